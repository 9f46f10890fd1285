"""Compare the acknowledged increments with the counted ones.

A request whose outcome is unknown may have been counted. So with A acknowledged, U unknown and a number that grew by G, at
least A - G acknowledged increments are lost, and at most A + U - G. Below 0, increments were counted that were not acknowledged.
"""

from __future__ import annotations

from collections import Counter
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
    """The result of a round."""

    AGREES = "agrees"
    # unknown requests leave the result open
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
    # the change of the number by one acknowledged request: 1 or -1
    step: int
    # how many things there were to sell
    stock: int | None
    requests: Sequence[Ended]
    # the number at each time, in seconds since 1970, from before the first request to the end
    samples: Sequence[tuple[float, int]]

    def figures(self) -> dict[str, int]:
        """Return the figures of the round by name; ``harm`` is the number of increments that are certainly wrong."""
        ended = Counter(request.outcome for request in self.requests)
        figures = {name: ended[name] for name in ("acknowledged", "refused", "failed", "unknown")}
        before, after = self.samples[0][1], self.samples[-1][1]
        grown = (after - before) * self.step
        least, most = figures["acknowledged"] - grown, figures["acknowledged"] + figures["unknown"] - grown
        oversold = 0 if self.stock is None else max(0, figures["acknowledged"] - self.stock)
        figures |= {"before": before, "after": after, "grown": grown, "at_once": self.at_once()}
        return figures | {"lost_least": least, "lost_most": most, "oversold": oversold, "harm": max(oversold, least, -most, 0)}

    def at_once(self) -> int:
        """Return the largest number of acknowledged requests that were under way at the same time."""
        acknowledged = [request for request in self.requests if request.outcome == "acknowledged"]
        changes = sorted([(request.start_s, 1) for request in acknowledged] + [(request.end_s, -1) for request in acknowledged])
        return max(accumulate(change for _, change in changes), default=0)

    def result(self) -> Result:
        """Return the result of the round; of several, the worst."""
        figures = self.figures()
        if figures["oversold"]:
            return Result.OVERSOLD
        if figures["lost_least"] > 0:
            return Result.LOST
        if figures["lost_most"] != 0:
            return Result.EXTRA if figures["lost_most"] < 0 else Result.OPEN
        if figures["at_once"] < 2:
            return Result.ALONE
        return Result.UNSOLD if self.stock is not None and not figures["refused"] else Result.AGREES


def status(results: Collection[Result]) -> ExitStatus:
    """Return the exit status: 1 if a round is bad, 3 if a round is open or no round agrees, and otherwise 0."""
    if BAD & {*results}:
        return ExitStatus.BROKEN
    return ExitStatus.GOOD if Result.AGREES in results and Result.OPEN not in results else ExitStatus.NOTHING_SHOWN
