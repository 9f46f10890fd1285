"""Define the ghost variables of the search: which request took the lock, which holds it, and which may rely on it.

In verification, a ghost variable is added to a program only for proofs. No client can read these variables. They follow from the
events alone, and decide which event breaks which claim. A holder is entitled by the rule of the judge
(``lab/judge/entitlement.py``), which is imported here. ``Effects`` changes the ghosts after each event.
"""

from __future__ import annotations

from typing import NamedTuple

from app.lock import Claim
from lab.explore.search.harm import Why
from lab.judge.entitlement import is_entitled

ASKS, WORKS, RELEASES, OVER = range(4)  # the phases of a request
NOT_YET = -1


class Hold(NamedTuple):
    """A request in its work."""

    key: str
    # when its lease ends, as the stage promises it, on the clock of the search; None if it has no lease
    until_ms: int | None
    why: Why = Why.ENTITLED
    # whether its replica was paused since it was granted the lock, before or after it checked the lock for the last time
    paused: bool = False
    paused_late: bool = False
    # whether one of its commands was lost during the work, such as a renewal
    unrenewed: bool = False
    # the parts of the counter that other entitled holders have written since it was granted the lock
    written_by_others: frozenset[str] = frozenset()

    def at(self, now_ms: int) -> Hold:
        """Return the hold at a moment. If its lease has ended by then, ``why`` has the reason."""
        if self.why is not Why.ENTITLED or is_entitled(now_ms, lease_ends=self.until_ms):
            return self
        if self.paused or self.paused_late:
            return self._replace(why=Why.PAUSED if self.paused else Why.PAUSED_LATE)
        return self._replace(why=Why.UNRENEWED if self.unrenewed else Why.EXPIRED)

    def is_entitled(self, now_ms: int) -> bool:
        """Return whether the holder can rely on its lock."""
        return self.why is Why.ENTITLED and is_entitled(now_ms, lease_ends=self.until_ms)


class Owner(NamedTuple):
    """The request that took the lock: after one of its commands, a fresh client would not get the lock any more."""

    actor: int
    # the start of its lease: the moment at which that command, or the last command that prolonged the lease, was sent
    since_ms: int
    # the claims that are tested by the faults that hit the request since then, in their order
    tested: tuple[Claim, ...] = ()


class Written(NamedTuple):
    """The last write to a part of the counter."""

    part: str
    why: Why


class Actor(NamedTuple):
    """A request. Its number is the replica's number times the number of requests at once, plus its number in the replica."""

    phase: int = ASKS
    # its lock; None outside its work
    hold: Hold | None = None
    # why it lost the lock that it had taken, before it was granted; PAUSED if it was only paused
    gone: Why = Why.ENTITLED
    # when it last sent a command that changed the lock's store; NOT_YET if it has sent none
    changed_ms: int = NOT_YET
    # whether its release began while the lock was its own; NOT_YET before the first command of the release
    released_own: int = NOT_YET
    # how often it wrote
    writes: int = 0
    # when it ended, if a thread of its replica still runs in the background; otherwise NOT_YET
    over_ms: int = NOT_YET


class Ghosts(NamedTuple):
    """All ghost variables."""

    actors: tuple[Actor, ...]
    # by key: the request that took it; a key that a fresh client would get has no owner
    owners: tuple[tuple[str, Owner], ...] = ()
    # the last writes, by part
    written: tuple[Written, ...] = ()
    # the highest fence that was granted
    fence: int = 0
    # the claims that are tested by faults of requests that had not taken the lock, or still acquired it
    tested: tuple[Claim, ...] = ()
    # the start of the present time in which a request waits and none is in its work; NOT_YET if there is none
    idle_since_ms: int = NOT_YET
    # whether a command that was sent twice has changed the store twice
    doubled: bool = False
    # how many requests have done their work, and how many gave up
    served: int = 0
    gave_up: int = 0

    def owner(self, key: str) -> Owner | None:
        """Return the owner of a key; None if no request has taken it."""
        for name, owner in self.owners:
            if name == key:
                return owner
        return None


def beginning(actors: int) -> Ghosts:
    """Return the ghosts before the first event."""
    return Ghosts((Actor(),) * actors)
