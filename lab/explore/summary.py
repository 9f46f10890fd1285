"""What all searches of a stage decide of one claim: in how many schedules it holds, or the shortest that breaks it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.lock import Claim
from lab.explore.budget import Budget
from lab.explore.decision import tested
from lab.explore.deed import seconds
from lab.explore.kept import Kept
from lab.explore.votes import restarted
from lab.text import counted, thousands


class Broken(NamedTuple):
    """The first search in which some schedule breaks the claim: that with the cheapest faults."""

    # the number of events of a shortest schedule, and its short form
    events: int
    schedule: str
    # the faults and the work of that search, in words
    conditions: str
    # of the schedules of that search, those that break the claim; empty where the search is not complete
    share: str


class Summary(NamedTuple):
    """What is decided of one claim."""

    # the schedules in which it was put to the test and held; of complete searches only
    schedules: int
    broken: Broken | None
    # the conditions of the searches that are not complete, in words
    undecided: tuple[str, ...]

    def __str__(self) -> str:
        if self.broken:
            one = self.broken
            return (
                f"breaks with {one.conditions}{one.share and f', in {one.share}'}; a shortest has {counted(one.events, 'event')}"
            )
        holds = [f"holds in {thousands(self.schedules)} schedules"] if self.schedules else []
        open_with = [f"not decided with {in_short(self.undecided)}"] if self.undecided else []
        return "; ".join(holds + open_with)


def in_short(conditions: Sequence[str]) -> str:
    """Return the conditions of several searches in words: pairs of faults are counted."""
    pairs = [one for one in conditions if " and " in one or one[:1] == "2"]
    single = [one for one in conditions if one not in pairs]
    return ", ".join([*single, *([counted(len(pairs), "pair") + " of faults"] if pairs else [])])


def of_claims(kept: Kept) -> dict[Claim, Summary]:
    """Return what is decided of each claim that the searches put to the test, in the order of the claims."""
    found = {claim: _of_claim(kept, claim) for claim in Claim}
    return {claim: one for claim, one in found.items() if one != Summary(0, None, ())}


def _of_claim(kept: Kept, claim: Claim) -> Summary:
    schedules, broken, undecided = 0, None, []
    for search in kept.budgets:
        decided: dict[str, Any] | None = search["claims"].get(claim.name)
        if decided is None:
            asked = tested(Budget(**search["faults"]), search["work_ms"], kept.ttl_ms, kept.servers)
            if not search["complete"] and claim in asked:
                undecided.append(conditions(search, kept.servers))
        elif decided.get("holds"):
            schedules += search["schedules"]
        elif broken is None:
            share = f"{thousands(decided['schedules'])} of {thousands(decided['of'])} schedules" if "of" in decided else ""
            broken = Broken(decided["breaks"], decided["schedule"], conditions(search, kept.servers), share)
    return Summary(schedules, broken, tuple(undecided))


def conditions(search: Mapping[str, Any], servers: int = 1) -> str:
    """Return the faults and the work of a search, in words."""
    if search["work_ms"]:
        return f"work of {seconds(search['work_ms'])}"
    return Budget(**search["faults"]).in_words(restarted(servers))
