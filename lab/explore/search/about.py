"""What the rules need to know of a search: the oracle, the times, and what the requests do."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Oracle:
    """What is known of a state of the lock's store: as long as nobody has asked, that no fresh client is granted anything."""

    def free(self, lock: int, now_ms: int) -> frozenset[str]:
        """Return the keys that a fresh client would be granted, if it ran alone from this state."""
        return frozenset()

    def free_at_ms(self, lock: int, now_ms: int, key: str) -> int | None:
        """Return when a fresh client would be granted a key, if nobody did anything; None for never."""
        return None

    def free_without(self, lock: int, now_ms: int, clients: Collection[int]) -> frozenset[str]:
        """Return the keys that a fresh client would be granted if the leases of some clients had ended; none without leases."""
        return frozenset()


class About(NamedTuple):
    """What the rules need to know of a search."""

    oracle: Oracle
    # the TTL that the stage states; None where it has none
    lease_ms: int | None
    # of bounds: the TTL that the lock was given
    ttl_ms: int
    # how many requests a replica serves at once
    at_once: int = 1
    nested: bool = False
    servers: int = 1
    # the keys that a fresh client was ever granted
    known: frozenset[str] = frozenset()
    # whether one replica serves all requests
    one_process: bool = False
    # how long a request waits; None for ever
    wait_ms: int | None = None
    # whether the work takes as long as the lease, or longer
    outlasts: bool = False
    # whether at least half of the requests must be served: nothing fails, the work fits, and waiters have the time
    serves: bool = False
