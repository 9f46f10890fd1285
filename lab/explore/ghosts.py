"""What the explorer remembers next to the code and the store: who made the lock's keys, and who is entitled to the lock.

No client can see this. It follows from the events alone, and decides what breaks which claim. It is the judge's entitlement
(``docs/choices.md``): a holder is entitled from its grant until its release begins, its lease ends, a fault takes the lock away,
or a thief does.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeVar

T = TypeVar("T")


class Why(StrEnum):
    """Why a holder is not entitled any more. The value completes the sentence "A worked on …"."""

    ENTITLED = ""
    NO_LOCK = "without any lock"
    EXPIRED = "after its lease had ended"
    SLOW = "although its acquire had taken longer than its lease"
    PAUSED = "after a pause in which its lease had ended"
    PAUSED_LATE = "after a pause between its last look at the lock and its write"
    ROBBED = "after another had deleted its lock"
    ROBBED_IN_RELEASE = "after another had deleted its lock in the middle of a release"
    STORE_LOST_IT = "after the store had lost its lock"
    VOTE_LOST = "after a server had lost its vote"


class Hold(NamedTuple):
    """A client in its work."""

    key: bytes
    # on the clock of the search; None where the lock does not expire
    until_ms: int | None
    why: Why = Why.ENTITLED
    # whether the client was paused since it was granted the lock; later than its last look at the lock
    paused: bool = False
    paused_late: bool = False

    def at(self, now_ms: int) -> Hold:
        """Return the same hold at a moment: its lease may have ended."""
        if self.why is not Why.ENTITLED or self.until_ms is None or now_ms < self.until_ms:
            return self
        why = (
            Why.PAUSED_LATE
            if self.paused_late and not self.paused
            else Why.PAUSED
            if self.paused or self.paused_late
            else Why.EXPIRED
        )
        return self._replace(why=why)


class Written(NamedTuple):
    """The last write to a part of the counter."""

    part: str
    client: int
    why: Why


class Ghosts(NamedTuple):
    """All of it."""

    # which client made each key of the lock's store that is there now
    owners: tuple[tuple[bytes, int], ...] = ()
    # what each client holds; None outside its work
    holds: tuple[Hold | None, ...] = ()
    # whether each client's release began while the lock was its own
    releases_own: tuple[bool, ...] = ()
    # how often each client wrote
    writes: tuple[int, ...] = ()
    # the last writes, by part
    written: tuple[Written, ...] = ()
    # the highest fence that was granted
    fence: int = 0
    # whether the client at which a fault was injected, a crash or a lost command, had been granted the lock before
    fault_at_holder: bool = False
    # the client whose command was sent twice, the last of them; -1 without one
    resent: int = -1
    # since when nobody was in its work while somebody waited; -1 while that is not so
    idle_since_ms: int = -1
    # whether one of several servers has lost its data
    vote_lost: bool = False

    def owner(self, key: bytes) -> int | None:
        """Return which client made a key; None if it is not there."""
        return next((client for name, client in self.owners if name == key), None)

    def hold(self, client: int, hold: Hold | None) -> Ghosts:
        """Return the ghosts with another hold of a client."""
        return self._replace(holds=put(self.holds, client, hold))


def put(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    """Return a tuple with another value at one place."""
    return (*values[:place], value, *values[place + 1 :])
