"""Examples: single requests and moments of a run that serve as evidence, and for the caption of a timeline.

Times are CLOCK_MONOTONIC in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import msgspec

from lab.evidence.loss import GrantFacts

EXAMPLES = 5  # how many of a kind are kept


class Wait(msgspec.Struct, frozen=True, tag="wait", tag_field="what"):
    """A request's wait for the lock, until it got the lock or gave up."""

    request: str
    replica: str
    asked_ns: int
    # when the wait ended
    until_ns: int
    # whether the request got the lock
    got: bool
    # the short name of the key that it waited for; empty where the evidence does not name it
    wanted: str = ""
    # the short name of the key that it held meanwhile; empty where the evidence does not name it
    holding: str = ""

    @property
    def ms(self) -> float:
        return (self.until_ns - self.asked_ns) / 1e6


class Overtaken(msgspec.Struct, frozen=True, tag="overtaken", tag_field="what"):
    """A request that waited while later requests got the lock."""

    request: str
    replica: str
    # how many requests asked after it and got the lock before it
    overtaken: int
    asked_ns: int
    got_ns: int


class Idle(msgspec.Struct, frozen=True, tag="idle", tag_field="what"):
    """A time in which the lock was free although a request waited for it."""

    # the request that released the lock
    released_by: str
    # the waiting request that got the lock next
    taken_by: str
    # when the release was sent
    releasing_ns: int
    # when the waiting request got the lock
    got_ns: int

    @property
    def ms(self) -> float:
        return max(0, self.got_ns - self.releasing_ns) / 1e6


class Repeated(msgspec.Struct, frozen=True, tag="repeated", tag_field="what"):
    """A request that wrote more than once."""

    request: str
    # how many writes it made
    times: int


class HalfDone(GrantFacts, tag="half_done", tag_field="what", gc=False):
    """A grant under which only the first of two writes was done, or the second came too late."""

    # how the second write failed
    how: str


class FreedEarly(GrantFacts, tag="freed_early", tag_field="what", gc=False):
    """A grant of a lock that was taken twice: the inner release freed the lock, and the outer release found nothing."""


class Reentered(msgspec.Struct, frozen=True, tag="reentered", tag_field="what"):
    """A request that entered a lock which a failed request had left behind."""

    request: str
    # the failed request
    left_by: str
    # the replica of both
    replica: str
    # when the failed request ended
    left_ns: int
    # when the other request got the lock
    got_ns: int


class TwoInside(msgspec.Struct, frozen=True, tag="two_inside", tag_field="what"):
    """Two grants that were inside at once."""

    # the grant that was got first
    elder: GrantFacts
    # the grant that came in meanwhile
    younger: GrantFacts


class Unwritten(msgspec.Struct, frozen=True, tag="unwritten", tag_field="what"):
    """A request that was acknowledged, and for which no replica wrote."""

    request: str
    # the replica that acknowledged it
    replica: str


class RefusedAndWritten(msgspec.Struct, frozen=True, tag="refused_and_written", tag_field="what"):
    """A request that was refused, and for which a replica wrote."""

    request: str
    # the HTTP status of the refusal
    status: int


class Refusals(msgspec.Struct, frozen=True, tag="refusals", tag_field="what"):
    """Writes that the resource refused."""

    refused: int


def short(key: str) -> str:
    """Return a key without the names of the run and the stage before it."""
    return key.rpartition(":")[2]


def deadlock(waits: Sequence[Wait]) -> tuple[Wait, Wait] | None:
    """Return the first two waits at the same time in which each request held the key that the other one waited for."""
    for one, other in combinations(waits, 2):
        crossed = one.holding and one.holding == other.wanted and other.holding == one.wanted != one.holding
        if crossed and one.asked_ns < other.until_ns and other.asked_ns < one.until_ns:
            return one, other
    return None
