"""Compare the acknowledged increments with the counted ones. Figures go in, and a result comes out.

A request of which the end is unknown may have been counted. So with A acknowledged, U unknown and a number that grew by G, at
least A - G acknowledged increments are lost, and at most A + U - G. Below 0, increments were counted of which nobody was told.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum
from itertools import accumulate

import msgspec

from lab.errors import ExitStatus


class Ended(msgspec.Struct):
    """A request that has ended, in seconds since 1970."""

    start_s: float
    end_s: float
    outcome: str


class Result(StrEnum):
    """What a round shows."""

    AGREES = "agrees"
    # unknown requests leave it open
    OPEN = "open"
    # no two acknowledged requests were under way at once: nothing can have been lost
    ALONE = "alone"
    # no request was refused: there was more stock than buyers
    UNSOLD = "unsold"
    LOST = "lost"
    # more was counted than can have been sent
    EXTRA = "extra"
    OVERSOLD = "oversold"


BAD = {Result.LOST, Result.EXTRA, Result.OVERSOLD}


class Round(msgspec.Struct, kw_only=True):
    """A load between two readings of the number."""

    users: int
    # what one acknowledged request adds to the number: 1 or -1
    step: int
    # how many things there were to sell
    stock: int | None
    requests: Sequence[Ended]
    # the number at each time, in seconds since 1970, from before the first request to the end
    samples: Sequence[tuple[float, int]]

    def ended(self, outcome: str) -> int:
        """Return how many requests ended so."""
        return sum(one.outcome == outcome for one in self.requests)

    def figures(self) -> dict[str, int]:
        """Return the figures of the round by name; ``harm``: how many increments are certainly wrong."""
        found = {name: self.ended(name) for name in ("acknowledged", "refused", "failed", "unknown")}
        before, after = self.samples[0][1], self.samples[-1][1]
        grown = (after - before) * self.step
        least, most = found["acknowledged"] - grown, found["acknowledged"] + found["unknown"] - grown
        oversold = 0 if self.stock is None else max(0, found["acknowledged"] - self.stock)
        found |= {"before": before, "after": after, "grown": grown, "at_once": self.at_once()}
        return found | {"lost_least": least, "lost_most": most, "oversold": oversold, "harm": max(oversold, least, -most, 0)}

    def at_once(self) -> int:
        """Return how many requests that were acknowledged were under way at the same time, at most."""
        told = [one for one in self.requests if one.outcome == "acknowledged"]
        changes = sorted([(one.start_s, 1) for one in told] + [(one.end_s, -1) for one in told])
        return max(accumulate(change for _, change in changes), default=0)

    def result(self) -> Result:
        """Return what the round shows, the worst first."""
        found = self.figures()
        if found["oversold"]:
            return Result.OVERSOLD
        if found["lost_least"] > 0:
            return Result.LOST
        if found["lost_most"] != 0:
            return Result.EXTRA if found["lost_most"] < 0 else Result.OPEN
        if found["at_once"] < 2:
            return Result.ALONE
        return Result.UNSOLD if self.stock is not None and not found["refused"] else Result.AGREES


def status(results: Collection[Result]) -> ExitStatus:
    """Return the exit status: 1 if a round is bad, 3 if one is open or none shows anything, and otherwise 0."""
    if BAD & {*results}:
        return ExitStatus.BROKEN
    return ExitStatus.GOOD if Result.AGREES in results and Result.OPEN not in results else ExitStatus.NOTHING_SHOWN
