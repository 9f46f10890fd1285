"""A decision as data: what ``lab explore --json`` prints, and the file of one schedule."""

from __future__ import annotations

from typing import Any

from app.lock import Claim
from lab.explore.decision import Decision, Question, tested
from lab.explore.event import short
from lab.explore.program import ASKS
from lab.explore.search import Searched
from lab.explore.votes import restarted

SCHEMA = 1
NUMBERS = {3: "three", 5: "five"}


def as_data(decision: Decision) -> dict[str, Any]:
    """Return a decision as JSON has it."""
    return {
        "schema": SCHEMA,
        "stage": decision.stage.name,
        "redis": decision.redis,
        "clients": decision.clients,
        "ttl_ms": decision.ttl_ms,
        "work_ms": decision.work_ms,
        "budgets": [_question(one, decision) for one in decision.questions],
        "decided": sentence(decision),
        "seconds": round(decision.seconds, 3),
    }


def _question(question: Question, decision: Decision) -> dict[str, Any]:
    about = {"faults": question.budget._asdict(), "work_ms": question.work_ms, "until_ms": question.horizon_ms}
    about |= {"nested": True} if question.nested else {}
    if question.found is None:
        return about | {"complete": False, "why": question.undecided, "claims": {}}
    found = question.found
    numbers = {
        "complete": found.complete,
        "schedules": found.schedules if found.complete else None,
        "states": found.states,
        "transitions": found.transitions,
        "seconds": round(found.seconds, 3),
    }
    why = {"why": question.undecided} if question.undecided else {}
    return about | numbers | why | {"claims": claims(question, found, decision)}


def claims(question: Question, found: Searched, about: Decision) -> dict[str, Any]:
    """Return what is decided of each claim: that it holds in all schedules, or a shortest schedule that breaks it.

    Without mutual exclusion, the other claims mean nothing: then only what breaks is in it.
    """
    decided: dict[str, Any] = {}
    for claim, broken in found.broken.items():
        number = {"schedules": broken.schedules, "of": found.schedules} if found.complete else {}
        schedule = {"schedule": short(broken.events), "mechanism": broken.mechanism}
        decided[claim.name] = {"breaks": len(broken.events)} | number | schedule
    if found.complete and "exclusive" not in decided:
        asked = tested(question.budget, question.work_ms, about.ttl_ms, about.servers)
        for claim in [Claim.reentrant] if question.nested else asked:
            decided.setdefault(claim.name, {"holds": True})
    return decided


def sentence(decision: Decision) -> str:
    """Return exactly what was decided, and under which assumptions."""
    searched = [one for one in decision.questions if one.found is not None and one.found.complete]
    if not searched:
        return "Nothing was decided."
    twice = " in a lock that each request takes twice" if any(one.nested for one in searched) else ""
    faults = "; ".join(dict.fromkeys(one.budget.in_words(restarted(decision.servers)) for one in searched))
    until_ms = max(one.horizon_ms for one in searched)
    number = sum(one.found.schedules for one in searched if one.found is not None)
    return (
        f"For {decision.clients} clients that do one increment each{twice}, one replica a client, at the granularity of one "
        f"command to the store (a script is one), with these faults ({faults}), until the clock reads {until_ms} ms at the "
        "latest: every order of these events, and every moment of each fault between two commands, was decided on the code of "
        f"{decision.stage.name} and Redis {decision.redis}. That is {number:,} schedules. Assumed: the code depends on its "
        "replies, its clock and its random numbers alone; a reply of Redis depends on the keys, their time to live and the "
        "command; threads of one replica change at commands and waits only; times are multiples of 100 ms; all clocks agree; "
        f"each connection keeps its order{_of_several(decision.servers)}."
    )


def _of_several(servers: int) -> str:
    """Return what is assumed where a lock asks several servers."""
    if servers == 1:
        return ""
    return (
        f"; the lock asks {NUMBERS.get(servers, servers)} servers that do not know of each other, and each executes a command at "
        "a moment of its own; a lost reply, a lost command or a command sent twice is one at one server, or at all of them; "
        f"a client that was refused {ASKS} times asks no more; orders that differ only in the moment of a command at one server, "
        "which nobody can notice, count once"
    )
