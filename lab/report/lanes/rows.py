"""The rows of a run's drawing, from the top.

They are the faults, the lock's store or its servers, a row for each slot of each replica, the waiting, and the counter. A lane
that would be empty is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.report.lanes.axis import Axis
from lab.story.timeline import NEVER, DrawnGrant, Life, Timeline

VOTER = 0.72  # the height of a row of a server that votes, in rows
FULL, MOST_FULL = 36, 14  # px: a row's height; how many rows have it
THIN, MOST_THIN = 0.2, 1.5  # the height of a row that the opening view does not need, and of all those of a replica, in rows


@dataclass(frozen=True)
class Lane:
    """A lane: rows of one thing."""

    name: str
    # where its first row has its middle, from the top
    middle: float
    # where the lane ends
    bottom: float


class Rows:
    """The rows of a picture, and what is in view. whole: all that the picture has is drawn, for a page that moves the view."""

    def __init__(self, picture: Timeline, axis: Axis, whole: bool = False) -> None:
        self.whole = whole
        since, until = (min(axis.since, 0), max(axis.until, picture.end)) if whole else (axis.since, axis.until)
        self.visible = [held for held in picture.held if whole or (held.got <= until and held.until >= since)]
        locks = picture.lock_keys
        lives = [life for life in picture.lives if life.key in locks]
        self.votes = [vote for vote in picture.votes if vote.born <= until and vote.end(picture.end) >= since]
        self.lives = [life for life in lives if life.born <= until and gone(life, picture) >= since and not self.votes]
        self.renewals = [one for one in picture.renewals if since <= one.at <= until and picture.renews(one)]
        self.writes = [held for held in self.visible if held.wrote_in != NEVER and since <= held.wrote_in <= until]
        self.lanes: list[Lane] = []
        self.number = 0.0  # of rows
        self.of_faults = self._add("faults", any(since <= fault.at <= until for fault in picture.faults))
        is_stuck = picture.is_stuck and picture.is_locked
        self.of_store = self._add("store", bool(self.lives) or (is_stuck and not self.votes))
        self.of_voter = [self._add(name, bool(self.votes), VOTER) for name in picture.voters]
        self.of_replica, thin_rows = [], 0.0
        # of each replica: how many rows have their full height, and the height of the others, in rows
        self.full: list[tuple[int, float]] = []
        for place, name in enumerate(picture.replicas):
            own = [held for held in self.visible if held.replica == place]
            all_slots = 1 + max((held.slot for held in own), default=0)
            slots = 1 + max((held.slot for held in own if held.got <= axis.until and held.until >= axis.since), default=0)
            thin = min(THIN, MOST_THIN / max(1, all_slots - slots))
            self.full.append((slots, thin))
            self.of_replica.append(self._add(name, True, rows=slots, more=thin * (all_slots - slots)))
            thin_rows += thin * (all_slots - slots)
        waits = any(number for at, number in picture.waiting if at <= until)
        self.of_waiting = self._add("waiting", waits)
        self.of_counter = self._add("counter", bool(self.writes))
        # the height of a row in px: with many rows they share the room
        self.each = FULL * min(1.0, MOST_FULL / (self.number - thin_rows))

    def of(self, held: DrawnGrant) -> float:
        """Return the middle of a grant's row."""
        slots, thin = self.full[held.replica]
        top = self.of_replica[held.replica]
        return top + held.slot if held.slot < slots else top + slots - 0.5 + thin * (held.slot - slots + 0.5)

    def thin(self, held: DrawnGrant) -> float:
        """Return the height of a grant's row, in rows, if it is a thin one; otherwise 0."""
        slots, thin = self.full[held.replica]
        return thin if held.slot >= slots else 0

    def _add(self, name: str, is_there: bool, height: float = 1, rows: int = 1, more: float = 0) -> float:
        """Add a lane, and return the middle of its first row; NEVER without the lane."""
        if not is_there:
            return NEVER
        middle = self.number + height / 2
        self.number += height * rows + more
        self.lanes.append(Lane(name, middle, self.number))
        return middle


def gone(life: Life, picture: Timeline) -> int:
    """Return when a key was removed, or the end of the run."""
    return picture.end if life.gone == NEVER else life.gone


def lease_end(life: Life, picture: Timeline) -> int:
    """Return when the lease ended. The store may have removed the key later."""
    return life.due if life.due != NEVER and life.due < gone(life, picture) else gone(life, picture)


def is_stuck(life: Life, picture: Timeline) -> bool:
    """Return whether the key has no end: it was never removed, has no time to live, and its holder never released it."""
    holder = picture.held[life.holder] if life.holder != NEVER else None
    return life.gone == life.due == NEVER and (holder is None or holder.released == NEVER)
