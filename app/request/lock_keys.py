"""Which keys at the store are those of the lock, as far as the requests so far show it.

A lock may send other commands as well: it counts its tries, or notes its progress. A fault is to be injected at a command of the
lock. Where acquires send commands about the key that their grants name, that key is the lock, and what else they were about is
not. A key that is new may be that of another lock. Where acquires send nothing about the key of their grants, the lock has
another name at the store, or several keys: then each command may be one of the lock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

NO_KEY = ("",)  # the keys of a command that can be about none, such as EXEC without commands
# of the whole process: the keys of all grants
GRANTED: set[str] = set()


class LockKeys:
    """Learns from each grant. Threads share it."""

    def __init__(self) -> None:
        self._named: frozenset[str] = frozenset()  # by grants whose acquires were about them
        self._others: frozenset[str] = frozenset()  # what else the acquires and releases of such grants were about

    def learn(self, key: str, touched: frozenset[str]) -> None:
        """Note the key that a grant names, and what its commands were about. key: empty if only the latter is known."""
        if key in touched:
            self._named |= {key}
        if self._named and not touched.isdisjoint(self._named):
            self._others |= touched - {key}

    def are_of_the_lock(self, keys: Iterable[str], renewing: bool = False) -> bool:
        """Return whether a command about these keys is one of the lock; also where nothing is known that contradicts it.

        renewing: whether it was sent outside all requests. Then a grant has shown the key before.
        """
        if keys == NO_KEY:
            return False
        if not keys or not self._named or not self._named.isdisjoint(keys):
            return True
        return not renewing and not all(key in self._others for key in keys)


def granted_in(text: str) -> str:
    """Return the key of a grant that a statement names, with its values; empty if it names none."""
    return max((key for key in GRANTED if key and key in text), key=len, default="")


def named(keys: Collection[str], name: str) -> str:
    """Return which of these keys a grant names: a lock may add something to the name. Empty without one, or with several."""
    found = [name] if name in keys else [key for key in keys if name and name in key]
    return found[0] if len(found) == 1 else ""
