"""Lay out the drawing of a run: its rows, from the top, and its axis of time.

The rows are the faults, the lock's store or its servers, a row for each slot of each replica, the waiting, and the counter. A
lane that would be empty is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab.report.lanes.pen import EDGE, WIDTH, View
from lab.story.timeline import NEVER, DrawnGrant, Life, Timeline

LEFT = 116  # px, for the names of the lanes
ROOM = WIDTH - LEFT - EDGE  # px, for the axis of time
TOP = 12  # px, above the first row: room for a label
MARGIN = 0.015  # part of the width, after the run's end: so marks at the end are not cut off
TICKS = (1, 2, 5)  # times a power of ten
MOST_TICKS = 8
VOTER = 0.72  # the height of the row of a voting server, in rows
FULL, MOST_FULL = 36, 14  # px: a row's height; how many rows have it
MOST_READS = 60  # grants in view; if there are more, only the writes are drawn, as lines of half a pixel


def _span(picture: Timeline) -> tuple[int, int]:
    """Return the beginning and the end of the drawn span of a picture, in microseconds.

    If no request gets the lock after a fault, nothing more happens: then the time after the fault is as long as before it.
    """
    since, until = picture.opens
    if picture.is_stuck:
        at = picture.faults[picture.focus_fault].at
        until = min(until, at + max(at - since, (until - at) // 8))
    return since, until + round(MARGIN * (until - since)) * (until >= picture.end)


class Lane(NamedTuple):
    """A lane: the rows of one participant."""

    name: str
    # the middle of its first row, in rows from the top
    middle: float
    # the end of the lane, in rows from the top
    bottom: float


class Rows(View):
    """The rows of a picture, and what is in view: grants, the lives of keys, votes, renewals and writes."""

    def __init__(self, picture: Timeline) -> None:
        since, until = _span(picture)
        super().__init__(since, until)
        self.visible = [held for held in picture.held if held.got <= until and held.until >= since]
        self.is_crowded = len(self.visible) > MOST_READS
        self.votes = [vote for vote in picture.votes if vote.born <= until and vote.end(picture.end) >= since]
        lives = () if self.votes else picture.lives
        self.lives = [life for life in lives if life.born <= until and life.removed(picture.end) >= since]
        self.renewals = [renewal for renewal in picture.renewals if since <= renewal.at <= until and picture.renews(renewal)]
        self.writes = [held for held in self.visible if held.wrote_in != NEVER and since <= held.wrote_in <= until]
        self.lanes: list[Lane] = []
        self.number = 0.0  # the number of rows
        self.of_faults = self._add("faults", any(since <= fault.at <= until for fault in picture.faults))
        is_stuck = picture.is_stuck and picture.is_locked
        self.of_store = self._add("store", bool(self.lives) or (is_stuck and not self.votes))
        self.of_voter = [self._add(name, bool(self.votes), VOTER) for name in picture.voters]
        self.of_replica = []
        for place, name in enumerate(picture.replicas):
            slots = 1 + max((held.slot for held in self.visible if held.replica == place), default=0)
            self.of_replica.append(self._add(name, True, rows=slots))
        waits = any(number for at, number in picture.waiting if at <= until)
        self.of_waiting = self._add("waiting", waits)
        self.of_counter = self._add("counter", bool(self.writes))
        # the height of a row in px: with many rows they share the room
        self.each = FULL * min(1.0, MOST_FULL / self.number)

    def at(self, moment: float, row: float) -> tuple[float, float]:
        """Return the point of a moment in a row, in px from the left end of the axis and from the top."""
        x = self.place(moment) * ROOM
        return round(2 * x) / 2 if self.is_crowded else round(x, 1), round(TOP + row * self.each, 1)

    def place(self, at: float) -> float:
        """Return the position of a moment on the axis: 0 at the left end, 1 at the right."""
        return (at - self.since) / (self.until - self.since)

    def ticks(self) -> Sequence[int]:
        """Return the moments at which the axis has a number: with few digits, and at most MOST_TICKS."""
        least = (self.until - self.since) / MOST_TICKS
        step = next((step for power in range(10) for number in TICKS if (step := number * 10**power) >= least), round(least))
        return range(int(-(-self.since // step) * step), int(self.until) + 1, step)

    def row_of(self, held: DrawnGrant) -> float:
        """Return the middle of a grant's row."""
        return self.of_replica[held.replica] + held.slot

    def _add(self, name: str, is_there: bool, height: float = 1, rows: int = 1) -> float:
        """Add a lane, and return the middle of its first row; NEVER without the lane."""
        if not is_there:
            return NEVER
        middle = self.number + height / 2
        self.number += height * rows
        self.lanes.append(Lane(name, middle, self.number))
        return middle


def is_stuck(life: Life, picture: Timeline) -> bool:
    """Return whether the key has no end: it was never removed, has no time to live, and its holder never released it."""
    holder = picture.held[life.holder] if life.holder != NEVER else None
    return life.gone == life.due == NEVER and (holder is None or holder.released == NEVER)
