"""A decision as data, in codes and figures: what ``lab explore --json`` prints, what the documents keep, and what that says.

The decisions that the documents quote are in ``reports/reference/explore.jsonl``, one line a stage, with the stories to draw. A
decision has a hash of the stage's code, without docstrings. Once that code has changed, it is not quoted any more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from app.lock import Claim, Stage
from lab.evidence.record_lines import read_lines, write_line
from lab.explore.code.program import Program, Task
from lab.explore.decision import Decision, SearchOutcome
from lab.explore.questions import Question
from lab.explore.schedule import fingerprint
from lab.explore.search.event import Budget, short
from lab.explore.search.search import Broken
from lab.explore.store.real_redis import Scripts
from lab.paths import HOME, REFERENCE

FILE = REFERENCE / "explore.jsonl"
SLIPS = HOME / "docs" / "slips"
DRIFTS = ("seconds", "states", "transitions")  # from one search to the next, or with the search's own cunning


class KeptDecision(msgspec.Struct, kw_only=True):
    """What was decided of one stage."""

    stage: str
    # of the stage's source, of what it imports of the shelf, and of its resource
    sha256: str
    redis: str = ""
    # of how many servers the lock's store consists
    servers: int = 1
    ttl_ms: int = 0
    # how long the searches took at most, in seconds
    budget_s: float = 0.0
    # as ``lab explore --json`` has them, without what drifts
    promises: dict[str, str] = {}
    searches: list[dict[str, Any]] = []
    # why nothing was decided; empty where something was
    why: str = ""
    # the shortest schedule of each claim that breaks, as ``lab.story.happening.Story`` has it
    stories: dict[str, Any] = {}

    @property
    def decided(self) -> int:
        """Return how many searches are decided."""
        return sum(one["decided"] for one in self.searches)


def fingerprint_of(stage: Stage) -> str:
    """Return the hash of a stage's code as it is now. No server is asked."""
    return fingerprint(Program(stage, Task(1000), Scripts()))


def of(decision: Decision, stories: Mapping[str, Any], budget_s: float) -> KeptDecision:
    """Return what is kept of a decision. stories: the shortest schedule of each claim that breaks."""
    data = as_data(decision)
    return KeptDecision(
        stage=decision.stage.name,
        sha256=fingerprint_of(decision.stage),
        redis=decision.redis,
        servers=decision.servers,
        ttl_ms=decision.ttl_ms,
        budget_s=budget_s,
        promises=data["promises"],
        searches=[{name: value for name, value in one.items() if name not in DRIFTS} for one in data["searches"]],
        why="" if any(one.is_decided for one in decision.answers) else decision.answers[0].about,
        stories=dict(stories),
    )


def slips() -> dict[str, Path]:
    """Return the locks of ``docs/slips`` by name. Each is a stage with one everyday mistake, or with one call of a library."""
    return {path.stem: path for path in sorted(SLIPS.glob("*.py"))}


def key_of(stage: Stage) -> str:
    """Return the name of a stage in the file; a lock of ``docs/slips`` has its folder before it."""
    return f"{SLIPS.name}/{stage.name}" if stage.path is not None and stage.path.parent == SLIPS else stage.name


def write(kept: KeptDecision, key: str, path: Path = FILE) -> None:
    """Write the decision of a stage into the file. key: its name there."""
    write_line(path, key, msgspec.json.encode(kept))


@cache
def read(key: str, path: Path = FILE) -> KeptDecision | None:
    """Return what is kept of a stage; None if nothing is."""
    record = read_lines(path).get(key)
    # numbers of schedules can have more than 64 bits: msgspec reads those as floats, and json does not
    return None if record is None else msgspec.convert(json.loads(record), KeptDecision)


@cache
def current(stage: Stage) -> KeptDecision | None:
    """Return what is kept of a stage, if it was decided on its present code."""
    kept = read(key_of(stage))
    return kept if kept is not None and kept.sha256 == fingerprint_of(stage) else None


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
    question, task, found, servers = answer.question, answer.question.task, answer.found, decision.servers
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


class CheapestBreak(NamedTuple):
    """The first search in which some schedule breaks the claim: that with the cheapest faults."""

    # the number of events of a shortest schedule, and its short form
    events: int
    schedule: str
    # that search
    question: Question
    # of the schedules of that search, those that break the claim, and all; None where they are not counted
    share: tuple[int, int] | None


class Summary(NamedTuple):
    """What is decided of one claim."""

    # the schedules in which it was put to the test and held; of searches that were decided only
    schedules: int
    # whether it was put to the test in a search that was decided
    held: bool
    broken: CheapestBreak | None
    # the searches that are not decided and that it needs
    undecided: tuple[Question, ...]


def of_claims(kept: KeptDecision) -> dict[Claim, Summary]:
    """Return what is decided of each claim that the searches put to the test, in the order of the claims."""
    found = {claim: _of_claim(kept, claim) for claim in Claim}
    return {claim: one for claim, one in found.items() if one != Summary(0, False, None, ())}


def _of_claim(kept: KeptDecision, claim: Claim) -> Summary:
    schedules, held, broken, undecided = 0, False, None, []
    for search in kept.searches:
        one = search.get("breaks", {}).get(claim.name)
        if one is not None and broken is None:
            share = (one["schedules"], search["schedules"]) if "schedules" in one else None
            broken = CheapestBreak(one["events"], one["schedule"], question_of(search, kept.ttl_ms), share)
        elif one is None and claim.name in search.get("holds", ()):
            schedules, held = schedules + (search["schedules"] or 0), True
        elif (
            one is None
            and search["needed"]
            and not search["decided"]
            and claim in question_of(search, kept.ttl_ms).tests(kept.servers)
        ):
            undecided.append(question_of(search, kept.ttl_ms))
    return Summary(schedules, held, broken, tuple(undecided))


def question_of(search: Mapping[str, Any], ttl_ms: int) -> Question:
    """Return a search as a question."""
    task = Task.of_fields({"ttl_ms": ttl_ms, **search})
    return Question(task, Budget(**search["faults"]), search["replicas"], search["needed"])
