"""The rows of a still timeline, from the top.

They are the faults, the lock's store or its servers, a row for each slot of each replica, the waiting, and the counter. A lane
that would be empty is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.report.still.axis import Axis
from lab.story.timeline import NEVER, Life, Timeline

VOTER = 0.72  # the height of a row of a server that votes, in rows


@dataclass(frozen=True)
class Lane:
    """A lane: rows of one thing."""

    name: str
    # where its first row has its middle, from the top
    middle: float
    # where the lane ends
    bottom: float


class Rows:
    """The rows of a picture, and what is in view."""

    def __init__(self, picture: Timeline, axis: Axis) -> None:
        since, until = axis.since, axis.until
        self.visible = [held for held in picture.held if held.got <= until and held.until >= since]
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
        self.of_store = self._add("the lock's store", bool(self.lives) or (is_stuck and not self.votes))
        self.of_voter = [self._add(name, bool(self.votes), VOTER) for name in picture.voters]
        self.of_replica = []
        for place, name in enumerate(picture.replicas):
            slots = 1 + max((held.slot for held in self.visible if held.replica == place), default=0)
            self.of_replica.append(self._add(name, True, rows=slots))
        waits = any(number for at, number in picture.waiting if at <= until)
        self.of_waiting = self._add("waiting", waits)
        self.of_counter = self._add("the counter", bool(self.writes))

    def _add(self, name: str, is_there: bool, height: float = 1, rows: int = 1) -> float:
        """Add a lane, and return the middle of its first row; NEVER without the lane."""
        if not is_there:
            return NEVER
        middle = self.number + height / 2
        self.number += height * rows
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
