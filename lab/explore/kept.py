"""A decision as data, in codes and figures: what ``lab explore --json`` prints, and what ``--keep`` writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from app.lock import Claim, Stage
from app.locks import stages
from lab.errors import choose_from
from lab.evidence import decided
from lab.evidence.record_lines import write_line
from lab.explore.decision import Decision, SearchOutcome
from lab.explore.search.event import short
from lab.explore.search.search import Broken
from lab.paths import need_clone
from lab.story.happening import Story

NOT_KEPT = ("seconds", "states")  # of a search: they drift


def check_kept(stage: Stage) -> None:
    """Raise BadInput for a stage whose decision is never kept: one that is neither on the ladder nor in ``docs/slips``."""
    need_clone("--keep")
    if stage.path not in decided.slips().values():
        choose_from("stage", stage.lookup, stages())


def keep(decision: Decision, stories: Mapping[str, Story], budget_s: float) -> None:
    """Write what is kept of a decision into the file of the documents. stories: by claim, a shortest schedule that breaks it."""
    data, key = as_data(decision), decided.key_of(decision.stage)
    found = decided.KeptDecision(
        stage=decision.stage.name,
        sha256=decided.fingerprint_of(decision.stage),
        ttl_ms=decision.ttl_ms,
        budget_s=budget_s,
        promises=data["promises"],
        searches=[{name: value for name, value in one.items() if name not in NOT_KEPT} for one in data["searches"]],
        why="" if any(one.is_decided for one in decision.answers) else decision.answers[0].detail,
        story=stories.get(decided.drawn().get(key, "")),
    )
    write_line(decided.FILE, key, msgspec.json.encode(found))


SCHEMA = 2


def as_data(decision: Decision) -> dict[str, Any]:
    """Return a decision as JSON has it."""
    return {
        "schema": SCHEMA,
        "stage": decision.stage.name,
        "redis": decision.redis,
        "servers": decision.servers,
        "ttl_ms": decision.ttl_ms,
        "promises": {claim.name: status for claim, status in decision.promises().items()},
        "searches": [_search(decision, one) for one in decision.answers],
        "drawn": decision.drawn,
        "seconds": round(decision.seconds, 3),
    }


def _search(decision: Decision, answer: SearchOutcome) -> dict[str, Any]:
    question, found, servers = answer.question, answer.result, decision.servers
    about: dict[str, Any] = question.as_fields(decision.ttl_ms)
    about |= {"needed": question.needed, "decided": answer.is_decided}
    if answer.undecided is not None:
        about |= {"undecided": answer.undecided.value, "about": answer.detail}
    if question.needed and not answer.is_decided:
        tested = question.tests(servers)
        about["missing_for"] = [claim.name for claim in Claim if claim in tested]
    if found is None:
        return about
    several = servers > 1  # of several servers, orders that nobody can notice are not counted: the number says nothing
    about |= {
        "schedules": found.schedules if found.complete and not several else None,
        "states": found.states,
        "seconds": round(found.seconds, 3),
        "breaks": {claim.name: _broken(broken, found.complete and not several) for claim, broken in found.broken.items()},
    }
    if answer.is_decided and Claim.exclusive not in found.broken:  # without it, the other claims mean nothing
        about["holds"] = [claim.name for claim in question.tests(servers) if claim not in found.broken and answer.decides(claim)]
    return about


def _broken(broken: Broken, is_counted: bool) -> dict[str, Any]:
    finding = broken.finding
    about: dict[str, Any] = {"harm": finding.harm.value, "events": len(broken.events), "schedule": short(broken.events)}
    about |= {"why": finding.why.value} if finding.why else {}
    about |= {"error": finding.error} if finding.error else {}
    return about | ({"schedules": broken.schedules} if is_counted else {})
