"""Read a ``verdict.json`` of schema 1, as the lab wrote it before evidence had a type and the reason had a field of its own."""

from __future__ import annotations

from typing import Any

import msgspec

FACTS = {"request", "replica", "read", "wrote", "overwrote", "asked_ns", "got_ns", "reading_ns", "wrote_ns", "releasing_ns"}
KIND_OF_KEYS = {  # the tag of evidence that has exactly these keys
    frozenset({"destroyed", "mechanism", "culprit", "victim"}): "loss",
    frozenset({"request", "replica", "asked_ns", "until_ns", "got", "wanted", "holding"}): "wait",
    frozenset({"request", "replica", "overtaken", "asked_ns", "got_ns"}): "overtaken",
    frozenset({"released_by", "taken_by", "releasing_ns", "got_ns"}): "idle",
    frozenset({"request", "times"}): "repeated",
    frozenset({"refused"}): "refusals",
    frozenset(FACTS): "freed_early",
    frozenset({*FACTS, "how"}): "half_done",
}
OF_A_FAULT = {"name", "replica", "pid", "request", "at_ns"}  # evidence of a fault has these keys, and newer ones has more
OF_ITS_OUTCOME = ("next_got_ns", "next_request", "went_on_ns", "renewals", "foreign_renewals")


def upgraded(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of schema 1 in the form of schema 2. Raises ValidationError where a field is missing."""
    try:
        danger = content["danger"]
        return content | {
            "schema": 2,
            "why": danger["why"],
            "danger": {name: {"needed": needed, "seen": danger["seen"][name]} for name, needed in danger["needed"].items()},
            "overlapping_beliefs": danger.get("overlapping_beliefs", 0),
            "violations": [_violation(violation) for violation in content["violations"]],
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise msgspec.ValidationError(f"not a judgement of schema 1: {type(error).__name__} {error}") from None


def _violation(violation: dict[str, Any]) -> dict[str, Any]:
    return violation | {"evidence": [_evidence(evidence) for evidence in violation["evidence"]]}


def _evidence(evidence: dict[str, Any]) -> dict[str, Any]:
    """Add the tag. Evidence of an even older form becomes text."""
    if kind := KIND_OF_KEYS.get(frozenset(evidence)):
        return evidence | {"what": kind}
    if set(evidence) >= OF_A_FAULT:
        outcome = {name: evidence[name] for name in OF_ITS_OUTCOME if name in evidence}
        record = {name: value for name, value in evidence.items() if name not in OF_ITS_OUTCOME}
        return outcome | {"what": "fault", "record": record}
    return {"what": "old", "facts": {name: str(value) for name, value in evidence.items()}}
