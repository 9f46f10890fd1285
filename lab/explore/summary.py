"""What all searches of a stage decide of one claim: in how many schedules it holds, or the shortest that breaks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from app.lock import Claim
from lab.explore.code.program import Task
from lab.explore.kept import KeptDecision
from lab.explore.questions import Question
from lab.explore.search.budget import Budget


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
