"""Bound how far the clocks of several machines are apart, from the journals and from readings of the clocks.

If replica B read, or overwrote, the value that replica A wrote, then A had sent its write before B had its answer. So B's clock
is ahead of A's by at most the difference of the two stamps. The least difference over all hand-overs from A to B bounds the
offset of the two clocks from one side, and hand-overs from B to A bound it from the other side. A reading bounds it from both
sides: an agent stamped its answer between two stamps of the lab's clock (Cristian, "Probabilistic clock synchronization", 1989).

These bounds are difference constraints: shortest paths make each bound as tight as the rest allow, and a negative cycle shows
that no offsets satisfy them (Cormen et al., "Introduction to Algorithms", section "Difference constraints and shortest paths").

Clocks also run at different rates. So the bounds are found for each window of some seconds, and are widened by the rate that is
allowed when they are used in another window. One offset is used for the whole run, so that lengths of time within one process
stay exact. Its error is the greatest distance from the bounds of any window. The drift is the change of the offset from the first
window to the last.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, product
from typing import Any

from app.journal import AnyEvent, Writing, Wrote
from lab.evidence.history import History
from lab.evidence.run_record import ClockReading

WINDOW_NS = 5_000_000_000
DRIFT = 200e-6  # the greatest difference of two clocks' rates: a crystal may be 100 parts in a million too fast or too slow
SLACK_NS = int(DRIFT * WINDOW_NS)  # the most that an offset changes within a window, and from one window to the next
LAG = 8192  # a value that was read or overwritten is looked up after this many later ones; its writer is known for twice as many
NEVER_NS = 1 << 60  # the bound of two clocks if no event and no reading compares them
LAB = ""  # the name of the lab's own clock, to which all others are shifted

Bounds = dict[tuple[str, str], int]  # by two clocks: the most nanoseconds by which the second is ahead of the first


@dataclass(frozen=True)
class Clocks:
    """Hold how far each clock is ahead of the lab's clock, and the possible error. With no entry, all stamps are of one clock."""

    # by replica or Locust worker: the clock that stamps its record, if that is not the lab's
    clock_of: Mapping[str, str] = field(default_factory=dict)
    # by clock: how far it is ahead of the lab's clock
    ahead_ns: Mapping[str, int] = field(default_factory=dict)
    # by two clocks, in either order: by how much their offset may be wrong, on either side
    errors_ns: Mapping[tuple[str, str], int] = field(default_factory=dict)
    # the largest difference between the rates of two clocks, in parts in a million, and by how much it may be wrong;
    # None if the run was too short to measure it
    drift_ppm: tuple[float, float] | None = None
    # whether no offsets of the clocks satisfy the evidence
    contradict: bool = False

    def shifted(self, name: str, at_ns: int) -> int:
        """Return the moment of a stamp of a replica or worker on the lab's clock, in ns. A stamp of 0 means no moment."""
        return at_ns - self.ahead_ns.get(self.clock_of.get(name, LAB), 0) if at_ns else 0

    def error_ns(self, first: str, second: str) -> int:
        """Return by how much the order of stamps of two replicas may be wrong, in nanoseconds; 0 if they share a clock."""
        if not self.errors_ns:
            return 0
        return self.errors_ns.get((self.clock_of.get(first, LAB), self.clock_of.get(second, LAB)), 0)

    @property
    def worst_ns(self) -> int:
        """Return the largest error of all pairs, in nanoseconds."""
        return max(self.errors_ns.values(), default=0)


def bound(history: History, clock_of: Mapping[str, str], readings: Mapping[str, Sequence[ClockReading]]) -> Clocks:
    """Return the offsets of the clocks of a run.

    clock_of: by replica and Locust worker, the clock that stamps its record. readings: by clock, except the lab's, one reading
    or more. Raises KeyError if a clock has no reading.
    """
    roughly = Clocks(clock_of, {name: readings[name][0].ahead_ns for name in {*clock_of.values()} - {LAB}})
    names = [LAB, *roughly.ahead_ns]
    found = _HandOvers(clock_of)
    for _, replica, event in history.stamped(roughly.shifted):
        found.add(replica, event)
    found.close()
    refuted = any(bounds.get((name, name), 0) < 0 for bounds in found.bounds.values() for name in names)
    windows = _tighten(_with_readings(found.bounds, readings, roughly), names)
    closed = [_closed(window, names) for window in windows]
    if refuted or any(_contradicts(window, names) for window in closed):
        return Clocks(contradict=True)
    if len(names) == 1:
        return Clocks()
    least = {pair: min(window[pair] for window in closed) for pair in closed[0]}
    whole = _closed(least, names)
    # the average of two offsets that satisfy all bounds satisfies them as well; if rates differ, none may satisfy all
    used = least if _contradicts(whole, names) else whole
    ahead = {name: (used[LAB, name] - used[name, LAB]) // 2 for name in names}
    errors = {}
    for one, other in combinations(names, 2):
        between_ns = ahead[other] - ahead[one]
        errors[one, other] = errors[other, one] = max(
            max(window[one, other] - between_ns, between_ns + window[other, one]) for window in closed
        )
    total = {name: ahead[name] + roughly_ns for name, roughly_ns in roughly.ahead_ns.items()}
    lasted_ns = WINDOW_NS * (max(found.bounds) - min(found.bounds))
    return Clocks(clock_of, total, errors, _drift_ppm(closed[0], closed[-1], lasted_ns))


class _HandOvers:
    """Find hand-overs in events that come roughly in the order of time. A value that several writes left bounds nothing."""

    def __init__(self, clock_of: Mapping[str, str]) -> None:
        self.clock_of = clock_of
        # by window, for each two clocks: the least time from sending a write to the answer that showed its value
        self.bounds: dict[int, Bounds] = {}
        # by part of the resource and value: the replica that wrote the value, and when it sent the write; None if several did
        self._writers: dict[tuple[str, int], tuple[str, int] | None] = {}
        # the values that were read or overwritten lately, each with the replica, and when that replica had the answer
        self._seen: deque[tuple[tuple[str, int], str, int]] = deque()
        self._reads: dict[str, Writing] = {}  # by replica and request: the read, until its write is confirmed

    def add(self, replica: str, event: AnyEvent) -> None:
        """Take one event."""
        name = f"{replica} {event.request}"
        if isinstance(event, Writing):
            self._reads[name] = event
        elif isinstance(event, Wrote):
            value, read = (event.part, event.value), self._reads.pop(name, None)
            self._writers[value] = None if value in self._writers else (replica, event.writing_ns)
            self._seen.append(((event.part, event.overwrote), replica, event.wrote_ns))
            if read is not None and read.read is not None:
                self._seen.append(((event.part, read.read), replica, read.read_ns))
            while len(self._seen) > LAG:
                self._look_up(*self._seen.popleft())
        _forget(self._writers)
        _forget(self._reads)

    def close(self) -> None:
        """Look up the last values: all events have been read."""
        for one in self._seen:
            self._look_up(*one)

    def _look_up(self, value: tuple[str, int], reader: str, answered_ns: int) -> None:
        writer, sent_ns = self._writers.get(value) or (reader, 0)
        if writer != reader:
            bounds = self.bounds.setdefault(answered_ns // WINDOW_NS, {})
            pair = self.clock_of.get(writer, LAB), self.clock_of.get(reader, LAB)
            bounds[pair] = min(bounds.get(pair, NEVER_NS), answered_ns - sent_ns)


def _forget(remembered: dict[Any, Any]) -> None:
    """Remove the oldest entry if there are too many: its value was seen long ago, or its request never wrote."""
    if len(remembered) > 2 * LAG:
        del remembered[next(iter(remembered))]


def _with_readings(
    found: dict[int, Bounds], readings: Mapping[str, Sequence[ClockReading]], roughly: Clocks
) -> dict[int, Bounds]:
    """Add the readings' bounds to the windows of the readings. An offset is the difference from that clock's in ``roughly``."""
    for name, taken in readings.items():
        for reading in taken if name in roughly.ahead_ns else ():
            bounds, left_ns = found.setdefault(reading.at_ns // WINDOW_NS, {}), reading.ahead_ns - roughly.ahead_ns[name]
            for pair, most_ns in (((LAB, name), left_ns + reading.error_ns), ((name, LAB), reading.error_ns - left_ns)):
                bounds[pair] = min(bounds.get(pair, NEVER_NS), most_ns)
    return found


def _tighten(found: dict[int, Bounds], names: Sequence[str]) -> list[Bounds]:
    """Return the bounds of the windows in order. A window also uses its neighbours' bounds, widened by the allowed drift."""
    pairs = [pair for pair in product(names, names) if pair[0] != pair[1]]
    windows = [(at, {pair: found[at].get(pair, NEVER_NS - SLACK_NS) + SLACK_NS for pair in pairs}) for at in sorted(found)]
    for order in (windows, windows[::-1]):
        for (before_at, before), (at, window) in pairwise(order):
            slack_ns = SLACK_NS * abs(at - before_at)
            for pair in pairs:
                window[pair] = min(window[pair], before[pair] + slack_ns)
    return [window for _, window in windows]


def _closed(bounds: Bounds, names: Sequence[str]) -> Bounds:
    """Return the tightest bounds that follow from these, by Floyd and Warshall's shortest paths."""
    closed = dict.fromkeys(product(names, names), NEVER_NS) | {(name, name): 0 for name in names} | bounds
    for by, one, other in product(names, names, names):
        closed[one, other] = min(closed[one, other], closed[one, by] + closed[by, other])
    return closed


def _drift_ppm(first: Bounds, last: Bounds, lasted_ns: int) -> tuple[float, float] | None:
    """Return the greatest drift of any two clocks between two windows, and its error; None if the error is DRIFT or more.

    first, last: the tightest bounds of the two windows, which are ``lasted_ns`` apart.
    """
    changes = []
    for one, other in combinations(sorted({name for name, _ in first}), 2):
        most_ns, least_ns = last[one, other] + first[other, one], -last[other, one] - first[one, other]
        changes.append((abs(most_ns + least_ns) / 2, (most_ns - least_ns) / 2))
    drift_ns, error_ns = max(changes)
    return (drift_ns / lasted_ns * 1e6, error_ns / lasted_ns * 1e6) if error_ns < DRIFT * lasted_ns else None


def _contradicts(closed: Bounds, names: Sequence[str]) -> bool:
    return any(closed[name, name] < 0 for name in names)
