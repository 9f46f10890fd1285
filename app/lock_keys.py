"""Which keys at the store are those of the lock, as far as the requests so far show it.

A lock may send other commands as well: it counts its tries, or notes its progress. A fault is injected at a command of the lock.
Where acquires send commands about the key that their grants name, that key is the lock. Where they do not, the lock has another
name at the store, or several keys: then it is everything that an acquire or a release sends a command about.
"""

from __future__ import annotations

from collections.abc import Iterable


class LockKeys:
    """Learns from each grant. Threads share it."""

    def __init__(self) -> None:
        self._named: frozenset[str] = frozenset()  # by grants whose acquires were about them
        self._touched: frozenset[str] = frozenset()  # by acquires and releases whose grants name another key

    def learn(self, key: str, touched: frozenset[str]) -> None:
        """Note the key that a grant names, and what its commands were about. key: empty where only that is known."""
        if key in touched:
            self._named |= {key}
        elif not self._named:
            self._touched |= touched

    def are_of_the_lock(self, keys: Iterable[str]) -> bool:
        """Return whether a command about these keys is one of the lock; also where nothing is known that contradicts it."""
        known = self._named or self._touched
        return not keys or not known or not known.isdisjoint(keys)
