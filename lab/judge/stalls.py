"""Collect the times when replicas did not run: stalls that no fault of the scenario explains, and waits for a processor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from app.journal import STALL_NS, Stalled
from lab.evidence.fault_record import Effect, FaultRecord

# A process that goes on after a fault beats within this time. Until then, the gap belongs to the fault.
GOES_ON_WITHIN_NS = 200_000_000


class Stall(NamedTuple):
    """One gap in a replica's heartbeat that no fault explains. Times are CLOCK_MONOTONIC in nanoseconds."""

    replica: str
    since_ns: int
    until_ns: int
    # whether something outside stopped the process or took its processor: it used little processor time itself
    stopped: bool
    # whether a call in the process blocked its interpreter: no signal had stopped it, and it was not busy
    own: bool = False


class Stalls:
    """Collect the late beats of the replicas, in order of time."""

    def __init__(self, faults: Sequence[FaultRecord] = ()) -> None:
        self._stops = [record for record in faults if record.effect is Effect.PROCESS_STOPS]
        self._found: list[Stall] = []
        # by replica: the late beats before which it waited for a processor; empty if the kernel does not measure that
        self._waits: defaultdict[str, list[Stalled]] = defaultdict(list)

    def __iter__(self) -> Iterator[Stall]:
        return iter(self._found)

    def add(self, replica: str, event: Stalled) -> None:
        """Take note of a late beat."""
        since_ns, until_ns = event.since_ns, event.until_ns
        if event.queued_ns:
            self._waits[replica].append(event)
        if until_ns - since_ns <= STALL_NS:
            return
        for fault in self._stops:
            over_ns = fault.recovered_ns or until_ns
            if fault.replica != replica or over_ns < since_ns or until_ns < fault.at_ns:
                continue
            if until_ns <= over_ns + GOES_ON_WITHIN_NS:
                return
            since_ns = max(since_ns, over_ns)  # the fault explains the gap only until its recovery
        busy_ns = event.ran_ns + (event.queued_ns or 0)
        idle = 2 * busy_ns < event.until_ns - event.since_ns
        own = idle and event.stopped is False
        waited = 2 * event.ran_ns < event.until_ns - event.since_ns  # for a processor, or for the signal to go on
        self._found.append(Stall(replica, since_ns, until_ns, stopped=waited and not own, own=own))

    def close(self, started: Collection[str]) -> None:
        """Mark the stalls at which all replicas stood still as stops from outside: the machine, or a container, was frozen.

        started: the replicas.
        """
        stalls = self._found
        replicas = {*started, *(stall.replica for stall in stalls)}
        for number, stall in enumerate(stalls):
            together = {other.replica for other in stalls if other.since_ns < stall.until_ns and stall.since_ns < other.until_ns}
            if stall.own and len(replicas) > 1 and together == replicas:
                stalls[number] = stall._replace(own=False, stopped=True)

    def queued_ns(self, replica: str, since_ns: int, until_ns: int) -> int:
        """Return for how many nanoseconds of this time the replica waited for a processor."""
        return sum(
            min(one.queued_ns or 0, max(0, min(one.until_ns, until_ns) - max(one.since_ns, since_ns)))
            for one in self._waits.get(replica, ())
        )

    def longest(self) -> tuple[int, str]:
        """Return the longest stop of any replica, or its longest sum of waits for a processor, in nanoseconds; and its name."""
        waits = ((sum(one.queued_ns or 0 for one in waits), replica) for replica, waits in self._waits.items())
        stops = ((stall.until_ns - stall.since_ns, stall.replica) for stall in self._found)
        return max([*waits, *stops], default=(0, ""))
