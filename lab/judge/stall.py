"""Why a replica did not run in time: a stall that no fault of the scenario explains, or a busy machine."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from app.journal import Stalled


class Stall(NamedTuple):
    """One gap in a replica's heartbeat that no fault explains. Times are CLOCK_MONOTONIC in nanoseconds."""

    replica: str
    since_ns: int
    until_ns: int
    # whether something outside stopped the process, or left it no processor: it used little processor time itself
    stopped: bool
    # whether the process made it itself, by a call that keeps the interpreter: no signal had stopped it, and it was not busy
    own: bool = False

    @property
    def lasted_ns(self) -> int:
        return self.until_ns - self.since_ns


class Lateness:
    """Adds up the waits for a processor. A kernel that does not measure them leaves it empty."""

    def __init__(self) -> None:
        self._waits: defaultdict[str, list[Stalled]] = defaultdict(list)

    def add(self, replica: str, event: Stalled) -> None:
        """Take note of a late beat."""
        if event.queued_ns:
            self._waits[replica].append(event)

    def within_ns(self, replica: str, since_ns: int, until_ns: int) -> int:
        """Return for how much of this time the replica waited for a processor."""
        return sum(
            min(one.queued_ns or 0, max(0, min(one.until_ns, until_ns) - max(one.since_ns, since_ns)))
            for one in self._waits.get(replica, ())
        )

    def most(self) -> tuple[int, str]:
        """Return the longest time for which a replica waited in all, in nanoseconds, and which replica."""
        return max(
            ((sum(one.queued_ns or 0 for one in waits), replica) for replica, waits in self._waits.items()), default=(0, "")
        )
