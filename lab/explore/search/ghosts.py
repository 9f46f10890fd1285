"""The ghost variables of the search, as verification calls what it adds to a program: who took the lock, who holds it, who may.

No client can see them. They follow from the events alone, and decide what breaks which claim. Entitlement is that of the judge
(``lab/judge/entitlement.py``): both import the same statement. The rules change the ghosts in the ``Consequences`` of an event.
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
    # when its lease ends, as the stage promises it, on the clock of the search; None where it has no lease
    until_ms: int | None
    why: Why = Why.ENTITLED
    # whether its replica was paused since it was granted the lock; later than its last look at the lock
    paused: bool = False
    paused_late: bool = False
    # whether a command of its own was lost in the work: a renewal
    unrenewed: bool = False
    # the parts of the counter that other entitled holders have written since it was granted the lock
    written_by_others: frozenset[str] = frozenset()

    def at(self, now_ms: int) -> Hold:
        """Return the same hold at a moment: its lease may have ended."""
        if self.why is not Why.ENTITLED or is_entitled(now_ms, lease_ends=self.until_ms):
            return self
        if self.paused or self.paused_late:
            return self._replace(why=Why.PAUSED if self.paused else Why.PAUSED_LATE)
        return self._replace(why=Why.UNRENEWED if self.unrenewed else Why.EXPIRED)

    def is_entitled(self, now_ms: int) -> bool:
        """Return whether the holder can rely on its lock."""
        return self.why is Why.ENTITLED and is_entitled(now_ms, lease_ends=self.until_ms)


class Owner(NamedTuple):
    """Who took the lock: after a command of this request, a fresh client would not get it any more."""

    actor: int
    # since when its lease counts: when that command was sent, or the last that prolonged the lease
    since_ms: int
    # the claims that are put to the test by the faults that have hit it since, in their order
    tested: tuple[Claim, ...] = ()


class Written(NamedTuple):
    """The last write to a part of the counter."""

    part: str
    why: Why


class Actor(NamedTuple):
    """A request: the replica's number times the requests that it serves at once, and its own number, is its number."""

    phase: int = ASKS
    # what it holds; None outside its work
    hold: Hold | None = None
    # why the lock that it has taken is gone before it was granted; PAUSED where it was only paused
    gone: Why = Why.ENTITLED
    # when it last sent a command that changed the lock's store; NOT_YET where it has sent none
    changed_ms: int = NOT_YET
    # whether its release began while the lock was its own; NOT_YET before its first command
    released_own: int = NOT_YET
    # how often it wrote
    writes: int = 0
    # when it ended, if its replica still runs in the background; otherwise NOT_YET
    over_ms: int = NOT_YET


class Ghosts(NamedTuple):
    """All ghost variables."""

    actors: tuple[Actor, ...]
    # by key, who took it; a key that a fresh client would get has no owner
    owners: tuple[tuple[str, Owner], ...] = ()
    # the last writes, by part
    written: tuple[Written, ...] = ()
    # the highest fence that was granted
    fence: int = 0
    # the same of faults that have hit requests which had taken nothing, or were about to
    tested: tuple[Claim, ...] = ()
    # since when nobody was in its work while somebody waited; NOT_YET while that is not so
    idle_since_ms: int = NOT_YET
    # whether a command that was sent twice has changed the store twice
    doubled: bool = False
    # how many requests were served, and how many gave up
    served: int = 0
    gave_up: int = 0

    def owner(self, key: str) -> Owner | None:
        """Return who took a key."""
        for name, owner in self.owners:
            if name == key:
                return owner
        return None


def beginning(actors: int) -> Ghosts:
    """Return the ghosts before the first event."""
    return Ghosts((Actor(),) * actors)
