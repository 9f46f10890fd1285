"""How many requests were where, over time: waiting for the lock, inside it, or on their way at all.

Only arrivals less departures are kept, a number for each bin of time: memory grows with a run's length, not with its requests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

BIN_NS = 20_000_000


class Presence:
    """How many were somewhere at the end of each bin. Takes stays in any order."""

    def __init__(self) -> None:
        self.change: defaultdict[int, int] = defaultdict(int)  # bin → arrivals less departures

    def stay(self, since_ns: int, until_ns: int) -> None:
        """One more, from then until then. One that comes and goes within a bin is not seen."""
        since, until = since_ns // BIN_NS, until_ns // BIN_NS
        if since != until:
            self.change[since] += 1
            self.change[until] -= 1

    def counts(self, origin_ns: int, bins: int) -> Iterator[int]:
        """How many there were at the end of each of so many bins; the first of them holds the origin."""
        first = origin_ns // BIN_NS
        there = sum(number for at, number in self.change.items() if at < first)
        for at in range(first, first + bins):
            there += self.change.get(at, 0)
            yield there


@dataclass
class Crowd:
    """waiting: from asking for the lock to getting it or giving up. inside: from getting it to letting go, or dying.
    on_the_way: from when the load sent a request to when it heard of it. Whoever waited in a process that died left no word.
    """

    waiting: Presence = field(default_factory=Presence)
    inside: Presence = field(default_factory=Presence)
    on_the_way: Presence = field(default_factory=Presence)
    last_got_ns: int = 0


@dataclass(frozen=True)
class Scene:
    """A crowd at some moments: parallel lists, ``at_ns`` since the first request."""

    at_ns: Sequence[int]
    waiting: Sequence[int]
    inside: Sequence[int]
    on_the_way: Sequence[int]


def scenes(crowd: Crowd, origin_ns: int, bins: int, step: int) -> Scene:
    """Of every ``step`` bins the one in which most threads were taken: thinning loses no peak, and no moment is mixed."""
    counts = zip(*(one.counts(origin_ns, bins) for one in (crowd.waiting, crowd.inside, crowd.on_the_way)), strict=True)
    fullest: dict[int, tuple[int, int, int, int]] = {}
    for at, (waiting, inside, on_the_way) in enumerate(counts):
        best = fullest.get(at // step)
        if best is None or waiting + inside > best[1] + best[2]:
            fullest[at // step] = ((at + 1) * BIN_NS - origin_ns % BIN_NS, waiting, inside, on_the_way)
    columns = list(zip(*fullest.values(), strict=True)) or [(), (), (), ()]
    return Scene(*columns)
