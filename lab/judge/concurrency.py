"""How many requests were where, over time: waiting for the lock, inside it, or on the way.

Only arrivals minus departures are kept, one number for each bin of time. Memory grows with the length of a run, and not with
its requests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

BIN_NS = 20_000_000


class Occupancy:
    """How many requests were in one place at the end of each bin. Takes stays in any order."""

    def __init__(self) -> None:
        self.change: defaultdict[int, int] = defaultdict(int)  # bin → arrivals minus departures

    def stay(self, since_ns: int, until_ns: int) -> None:
        """Add one stay. A stay that begins and ends in the same bin is not seen."""
        since, until = since_ns // BIN_NS, until_ns // BIN_NS
        if since != until:
            self.change[since] += 1
            self.change[until] -= 1

    def counts(self, origin_ns: int, bins: int) -> Iterator[int]:
        """Yield the number at the end of each bin, for so many bins; the first bin holds the origin."""
        first = origin_ns // BIN_NS
        number = sum(change for at, change in self.change.items() if at < first)
        for at in range(first, first + bins):
            number += self.change.get(at, 0)
            yield number


@dataclass
class Concurrency:
    """The requests in their three places. A request that waited in a process that died is not on record as waiting."""

    # from asking for the lock to getting it or giving up
    waiting: Occupancy = field(default_factory=Occupancy)
    # from getting the lock to the end of the work, or to the death of the process
    inside: Occupancy = field(default_factory=Occupancy)
    # from the load's sending of a request to its answer
    on_the_way: Occupancy = field(default_factory=Occupancy)
    # when the lock was granted for the last time
    last_got_ns: int = 0


@dataclass(frozen=True)
class Samples:
    """The three numbers at some moments, as parallel lists."""

    # since the first request
    at_ns: Sequence[int]
    waiting: Sequence[int]
    inside: Sequence[int]
    on_the_way: Sequence[int]


def samples(concurrency: Concurrency, origin_ns: int, bins: int, step: int) -> Samples:
    """Return, of every ``step`` bins, the bin with the most requests waiting or inside.

    So thinning loses no peak, and the three numbers of a sample are of the same moment.
    """
    places = (concurrency.waiting, concurrency.inside, concurrency.on_the_way)
    counts = zip(*(place.counts(origin_ns, bins) for place in places), strict=True)
    fullest: dict[int, tuple[int, int, int, int]] = {}
    for at, (waiting, inside, on_the_way) in enumerate(counts):
        best = fullest.get(at // step)
        if best is None or waiting + inside > best[1] + best[2]:
            fullest[at // step] = ((at + 1) * BIN_NS - origin_ns % BIN_NS, waiting, inside, on_the_way)
    columns = list(zip(*fullest.values(), strict=True)) or [(), (), (), ()]
    return Samples(*columns)
