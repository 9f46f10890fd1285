"""Turn a decision into data, in codes and figures: ``lab explore --json`` prints it, and ``--keep`` writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from app.lock import Claim
from lab.evidence import decided
from lab.evidence.record_lines import write_line
from lab.explore.decision import Decision, SearchOutcome
from lab.explore.search.event import short
from lab.explore.search.search import Broken
from lab.story.happening import Story

NOT_KEPT = ("seconds", "states")  # fields of a search that change from run to run


def keep(decision: Decision, stories: Mapping[str, Story], budget_s: float) -> None:
    """Write a decision into the file for the documents. stories: by claim, a shortest schedule that breaks it."""
    data, key = as_data(decision), decided.key_of(decision.stage)
    kept = decided.KeptDecision(
        stage=decision.stage.name,
        sha256=decided.fingerprint_of(decision.stage),
        ttl_ms=decision.ttl_ms,
        budget_s=budget_s,
        promises=data["promises"],
        searches=[{name: value for name, value in search.items() if name not in NOT_KEPT} for search in data["searches"]],
        why="" if any(answer.is_decided for answer in decision.answers) else decision.answers[0].detail,
        story=stories.get(decided.drawn().get(key, "")),
    )
    write_line(decided.FILE, key, msgspec.json.encode(kept))


SCHEMA = 2


def as_data(decision: Decision) -> dict[str, Any]:
    """Return a decision as data for JSON."""
    return {
        "schema": SCHEMA,
        "stage": decision.stage.name,
        "redis": decision.redis,
        "servers": decision.servers,
        "ttl_ms": decision.ttl_ms,
        "promises": {claim.name: status for claim, status in decision.promises().items()},
        "searches": [_search(decision, answer) for answer in decision.answers],
        "drawn": decision.drawn,
        "seconds": round(decision.seconds, 3),
    }


def _search(decision: Decision, answer: SearchOutcome) -> dict[str, Any]:
    question, result, servers = answer.question, answer.result, decision.servers
    fields: dict[str, Any] = question.as_fields(decision.ttl_ms)
    fields |= {"needed": question.needed, "decided": answer.is_decided}
    if answer.undecided is not None:
        fields |= {"undecided": answer.undecided.value, "about": answer.detail}
    if question.needed and not answer.is_decided:
        tested = question.tests(servers)
        fields["missing_for"] = [claim.name for claim in Claim if claim in tested]
    if result is None:
        return fields
    several = servers > 1  # then some orders are left out, and the number of schedules has no meaning
    fields |= {
        "schedules": result.schedules if result.complete and not several else None,
        "states": result.states,
        "seconds": round(result.seconds, 3),
        "breaks": {claim.name: _broken(broken, result.complete and not several) for claim, broken in result.broken.items()},
    }
    if answer.is_decided and Claim.exclusive not in result.broken:  # without mutual exclusion, other claims have no meaning
        fields["holds"] = [
            claim.name for claim in question.tests(servers) if claim not in result.broken and answer.decides(claim)
        ]
    return fields


def _broken(broken: Broken, is_counted: bool) -> dict[str, Any]:
    finding = broken.finding
    fields: dict[str, Any] = {"harm": finding.harm.value, "events": len(broken.events), "schedule": short(broken.events)}
    fields |= {"why": finding.why.value} if finding.why else {}
    fields |= {"error": finding.error} if finding.error else {}
    return fields | ({"schedules": broken.schedules} if is_counted else {})
