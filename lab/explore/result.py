"""A decision as data: what ``lab explore --json`` prints, and what is kept for the documents. It has codes and figures only."""

from __future__ import annotations

from typing import Any

from app.lock import Claim
from lab.explore.decision import Decision, SearchOutcome
from lab.explore.questions import Question
from lab.explore.search.event import short
from lab.explore.search.search import Broken

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
        "searches": [_search(decision, *one) for one in zip(decision.questions, decision.answers, strict=True)],
        "drawn": decision.drawn,
        "seconds": round(decision.seconds, 3),
    }


def _search(decision: Decision, question: Question, answer: SearchOutcome) -> dict[str, Any]:
    task, found, servers = question.task, answer.found, decision.servers
    fields = task.as_fields()
    about: dict[str, Any] = {
        "replicas": question.replicas,
        **{name: fields[name] for name in ("at_once", "in_turn", "nested", "ends", "work_ms", "wait_ms", "nap_ms")},
        "faults": {name: number for name, number in question.budget._asdict().items() if number},
        "until_ms": question.horizon_ms,
        "needed": question.needed,
        "decided": answer.is_decided,
    }
    if task.ttl_ms != decision.ttl_ms:
        about["ttl_ms"] = task.ttl_ms
    if answer.undecided is not None:
        about |= {"undecided": answer.undecided.value, "about": answer.about}
    if found is None:
        return about
    several = servers > 1  # of several servers, orders that nobody can notice are not counted: the number says nothing
    about |= {
        "schedules": found.schedules if found.complete and not several else None,
        "cut": found.cut if found.complete and not several else None,
        "states": found.states,
        "transitions": found.transitions,
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
    about |= {"error": finding.about} if finding.about else {}
    return about | ({"schedules": broken.schedules} if is_counted else {})
