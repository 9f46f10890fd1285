"""Read the clocks of containers, and decide which of them are the lab's own clock.

Each agent reports its CLOCK_MONOTONIC. It was read after the request was sent and before the answer arrived, so the error is at
most half of the round trip. Two hosts can have the same ``boot_id`` and different clocks: virtual machines that were
resumed from one snapshot, or time namespaces. So the id alone proves nothing. The judge compares the readings with the journals
(``lab/judge/clock_bounds.py``), which also refute a clock that was wrongly taken for another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.evidence.run_record import ClockReading

if TYPE_CHECKING:
    from lab.containers.server import AgentServer

TRIES = 5
MORE_TRIES = 20  # if the round trips are long
SHORT_NS = 5_000_000  # a round trip that is short enough
LONG_NS = 100_000_000  # after a longer round trip nothing is known: the clock counts as a clock of its own
SMALL_NS = 1_000_000  # for the rounding of readings: the clocks of one kernel do not differ


class Reading(NamedTuple):
    """One clock, compared with the lab's own."""

    # the boot of the kernel that keeps the clock
    boot: str
    # how far it is ahead of the lab's clock
    ahead_ns: int
    # the largest error of this figure, in either direction
    error_ns: int
    # when it was read, by the lab's clock
    at_ns: int = 0

    def may_be(self, other: Reading) -> bool:
        """Return whether the two readings can be of one clock."""
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
        readings.append(Reading(answer["clock"], ahead_ns, (received_ns - sent_ns + 1) // 2, received_ns))
    return min(readings, key=_error)


def _error(reading: Reading) -> int:
    return reading.error_ns


class ClockWatch:
    """Read the clocks of all containers that stamp evidence, at the beginning and at the end of a run."""

    def __init__(self, own_boot: str, servers: Sequence[AgentServer]) -> None:
        """Read the clocks. own_boot: the boot id of the lab's own kernel. Raises OSError."""
        self._clocks = {"": Reading(own_boot, 0, 0)}  # by name; the lab's own clock has an empty name
        self.clock_of: dict[str, str] = {}
        self.readings: dict[str, list[ClockReading]] = {}
        self._servers = servers
        for server in servers:
            reading = server.clock()
            same = (name for name, known in self._clocks.items() if reading.may_be(known))
            self.clock_of[server.name] = name = next(same, server.name)
            self._clocks.setdefault(name, reading)
            self._note(name, reading)

    @property
    def number(self) -> int:
        """Return how many different clocks stamp the evidence."""
        return len(self._clocks)

    def ahead_ns(self, name: str) -> int:
        """Return how far a container's clock was ahead of the lab's clock at the beginning, in nanoseconds."""
        return self._clocks[self.clock_of[name]].ahead_ns

    def look_again(self) -> None:
        """Read the clocks once more: one clock may run faster than another. Raises OSError."""
        for server in self._servers:
            self._note(self.clock_of[server.name], server.clock())

    def _note(self, clock: str, reading: Reading) -> None:
        if clock:
            self.readings.setdefault(clock, []).append(ClockReading(reading.at_ns, reading.ahead_ns, reading.error_ns))
