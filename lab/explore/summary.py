"""What all searches of a stage decide of one claim: in how many schedules it holds, or the shortest that breaks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.lock import Claim
from lab.explore.code.program import FOR_EVER_MS, Task
from lab.explore.kept import KeptDecision
from lab.explore.questions import PAIR, Question
from lab.explore.search.budget import Budget
from lab.text import counted, seconds, thousands

NUMBERS = {1: "one", 2: "two", 3: "three", 4: "four"}


class CheapestBreak(NamedTuple):
    """The first search in which some schedule breaks the claim: that with the cheapest faults."""

    # the number of events of a shortest schedule, and its short form
    events: int
    schedule: str
    # the faults and the work of that search, in words
    conditions: str
    # of the schedules of that search, those that break the claim; empty where they are not counted
    share: str


class Summary(NamedTuple):
    """What is decided of one claim."""

    # the schedules in which it was put to the test and held; of searches that were decided only
    schedules: int
    # whether it was put to the test in a search that was decided
    held: bool
    broken: CheapestBreak | None
    # the conditions of the searches that are not decided and that it needs, in words
    undecided: tuple[str, ...]

    def __str__(self) -> str:
        if self.broken:
            one = self.broken
            share = one.share and f", in {one.share}"
            return f"breaks with {one.conditions}{share}; a shortest has {counted(one.events, 'event')}"
        number = f" in {thousands(self.schedules)} schedules" if self.schedules else ""
        holds = [f"holds{number}"] if self.held else []
        open_with = [f"not decided with {in_short(self.undecided)}"] if self.undecided else []
        return "; ".join(holds + open_with)


def in_short(conditions: Sequence[str]) -> str:
    """Return the conditions of several searches in words: pairs of faults are counted."""
    pairs = [one for one in conditions if " and " in one or one[:1] == "2"]
    single = [one for one in conditions if one not in pairs]
    return ", ".join([*single, *([counted(len(pairs), "pair") + " of faults"] if pairs else [])])


def of_claims(kept: KeptDecision) -> dict[Claim, Summary]:
    """Return what is decided of each claim that the searches put to the test, in the order of the claims."""
    found = {claim: _of_claim(kept, claim) for claim in Claim}
    return {claim: one for claim, one in found.items() if one != Summary(0, False, None, ())}


def _of_claim(kept: KeptDecision, claim: Claim) -> Summary:
    schedules, held, broken, undecided = 0, False, None, []
    for search in kept.searches:
        one = search.get("breaks", {}).get(claim.name)
        if one is not None and broken is None:
            share = f"{thousands(one['schedules'])} of {thousands(search['schedules'])} schedules" if "schedules" in one else ""
            broken = CheapestBreak(
                one["events"], one["schedule"], conditions(question_of(search, kept.ttl_ms), kept.ttl_ms), share
            )
        elif one is None and claim.name in search.get("holds", ()):
            schedules, held = schedules + (search["schedules"] or 0), True
        elif (
            one is None
            and search["needed"]
            and not search["decided"]
            and claim in question_of(search, kept.ttl_ms).tests(kept.servers)
        ):
            undecided.append(conditions(question_of(search, kept.ttl_ms), kept.ttl_ms))
    return Summary(schedules, held, broken, tuple(undecided))


def question_of(search: Mapping[str, Any], ttl_ms: int) -> Question:
    """Return a search as a question."""
    wait_ms = FOR_EVER_MS if search["wait_ms"] is None else search["wait_ms"]
    about = search["nested"], search["at_once"], search["in_turn"], search["nap_ms"], search["ends"]
    task = Task(search.get("ttl_ms", ttl_ms), search["work_ms"], wait_ms, *about)
    return Question(task, Budget(**search["faults"]), search["replicas"], search["needed"])


def conditions(question: Question, ttl_ms: int) -> str:
    """Return the faults and the work of a search, in words. ttl_ms: that of the other searches."""
    task, found = question.task, []
    if question.replicas != PAIR:
        found.append(f"{NUMBERS[question.replicas]} client{'s' * (question.replicas > 1)}")
    if task.at_once > 1:
        found.append(f"{NUMBERS[task.at_once]} requests at once in each")
    if task.in_turn > 1:
        found.append(f"{NUMBERS[task.in_turn]} requests each")
    if task.nested:
        found.append("the lock taken twice")
    if task.ttl_ms != ttl_ms:
        found.append(f"a TTL of {seconds(task.ttl_ms)}")
    if task.work_ms:
        found.append(f"work of {seconds(task.work_ms)}")
    if task.wait_ms < FOR_EVER_MS:
        found.append(f"a wait of at most {seconds(task.wait_ms)}" if task.wait_ms else "a single try")
    if task.ends:
        found.append("random numbers at both ends")
    if question.budget != Budget() or not found:
        found.append(str(question.budget))
    return ", ".join(found)
