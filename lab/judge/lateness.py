"""How late a busy machine made each replica, in parts that are too short for a stall.

Only the time that the heartbeat's thread spent in the kernel's queue for a processor counts: no lock can make it itself.
"""

from __future__ import annotations

from collections import defaultdict

from app.journal import Stalled


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
