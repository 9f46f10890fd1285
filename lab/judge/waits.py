"""Who stands for a run's waiting: the longest and the most, by name, as evidence and for the story of a run.

Times are CLOCK_MONOTONIC in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import msgspec


class Wait(msgspec.Struct, frozen=True):
    """A request's wait for the lock, until it got it or gave up. wanted, holding: short names of keys, empty where the
    evidence does not tell.
    """

    request: str
    replica: str
    asked_ns: int
    until_ns: int
    got: bool
    wanted: str = ""
    holding: str = ""

    @property
    def ms(self) -> float:
        return (self.until_ns - self.asked_ns) / 1e6


class Overtaken(msgspec.Struct, frozen=True):
    """A request that others overtook: they had asked after it and got the lock before."""

    request: str
    replica: str
    overtaken: int
    asked_ns: int
    got_ns: int


class Idle(msgspec.Struct, frozen=True):
    """A time in which the lock was free though somebody waited: from the release's sending to the next grant."""

    released_by: str
    taken_by: str
    releasing_ns: int
    got_ns: int

    @property
    def ms(self) -> float:
        return max(0, self.got_ns - self.releasing_ns) / 1e6


class Repeated(msgspec.Struct, frozen=True):
    """A request that wrote more than once, and how often it did."""

    request: str
    times: int


def short(key: str) -> str:
    """A key without the run and the stage in front."""
    return key.rpartition(":")[2]


def deadlock(waits: Sequence[Wait]) -> tuple[Wait, Wait] | None:
    """The first two of whom each held what the other wanted, at the same time."""
    for one, other in combinations(waits, 2):
        crossed = one.holding and one.holding == other.wanted and other.holding == one.wanted != one.holding
        if crossed and one.asked_ns < other.until_ns and other.asked_ns < one.until_ns:
            return one, other
    return None
