"""Find out whether containers share the lab's clock, by measuring.

Each agent reports its CLOCK_MONOTONIC. It was read between the sending of the question and the arrival of the answer, so it is
known up to half of the round trip. Two hosts can have the same ``boot_id`` and different clocks: virtual machines that were
resumed from one snapshot, or time namespaces. So the id alone proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import monotonic_ns
from typing import Any, NamedTuple

TRIES = 5
MORE_TRIES = 20  # if the round trips are long
SHORT_NS = 5_000_000  # a round trip that is short enough
LONG_NS = 100_000_000  # after which nothing is known: such a clock counts as one of its own
SMALL_NS = 1_000_000  # the clocks of one kernel do not differ; this is for the rounding of their readings


class Reading(NamedTuple):
    """One clock, compared with the lab's own."""

    # the boot of the kernel that keeps the clock
    boot: str
    # how far it is ahead of the lab's clock
    ahead_ns: int
    # how much that may be wrong, on either side
    error_ns: int

    def may_be(self, other: Reading) -> bool:
        """Return whether the two can be one clock."""
        if self.boot != other.boot or max(self.error_ns, other.error_ns) > LONG_NS // 2:
            return False
        return abs(self.ahead_ns - other.ahead_ns) <= self.error_ns + other.error_ns + SMALL_NS


def read(ask: Callable[[], dict[str, Any]], now_ns: Callable[[], int] = monotonic_ns) -> Reading:
    """Ask an agent for its clock some times, and return the reading of the shortest round trip. Raises OSError."""
    readings: list[Reading] = []
    while len(readings) < TRIES or (len(readings) < MORE_TRIES and 2 * min(map(_error, readings)) > SHORT_NS):
        sent_ns = now_ns()
        answer = ask()
        received_ns = now_ns()
        ahead_ns = answer["monotonic_ns"] - (sent_ns + received_ns) // 2
        readings.append(Reading(answer["clock"], ahead_ns, (received_ns - sent_ns + 1) // 2))
    return min(readings, key=_error)


def _error(reading: Reading) -> int:
    return reading.error_ns


def number_of(readings: Iterable[Reading]) -> int:
    """Return how many different clocks there are."""
    different: list[Reading] = []
    for reading in readings:
        if not any(reading.may_be(known) for known in different):
            different.append(reading)
    return len(different)
