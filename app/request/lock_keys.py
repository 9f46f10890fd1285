"""Which keys at the store are those of the lock, as far as the requests so far show it.

A lock may send other commands as well: it counts its tries, or notes its progress. A fault is to be injected at a command of the
lock. Where acquires send commands about the key that their grants name, that key is the lock, and what else they were about is
not. A key that is new may be that of another lock. Where acquires send nothing about the key of their grants, the lock has
another name at the store, or several keys: then each command may be one of the lock.

A lock on several servers sets its key at each: those commands are its votes. A try that failed takes back what it has set, by
another script or a deletion. Some locks do not, and ask anew. But a try asks each server once. So the last answers of one script,
as many as there are servers, are those of the last try.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

NO_KEY = ("",)  # the keys of a command that can be about none, such as EXEC without commands
# of the whole process: the keys of all grants
GRANTED: set[str] = set()


class LockKeys:
    """Learns from each grant. Threads share it."""

    def __init__(self) -> None:
        self._named: frozenset[str] = frozenset()  # by grants whose acquires were about them
        self._others: frozenset[str] = frozenset()  # what else the acquires and releases of such grants were about

    def learn(self, key: str, touched: frozenset[str]) -> None:
        """Note the key that a grant names, and what its commands were about. key: empty where only that is known."""
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
    """Return the key of a grant that a statement names, with its values; empty where it names none."""
    return max((key for key in GRANTED if key and key in text), key=len, default="")


def named(keys: Collection[str], name: str) -> str:
    """Return which of these keys a grant names: a lock may add something to the name. Empty without one, or with several."""
    found = [name] if name in keys else [key for key in keys if name and name in key]
    return found[0] if len(found) == 1 else ""


PLAIN = ""  # not a script: a command such as SET NX


class Votes(NamedTuple):
    """The votes for one key: when the commands of the present try were sent that can have set it."""

    # of which script they are, or PLAIN
    script: str
    # when each command was sent; of plain commands only the first
    sent_ns: tuple[int, ...]


NO_VOTES: Mapping[str, Votes] = MappingProxyType({})
servers = 1  # of which the lock's store consists: set once in a replica, before its first request


def with_agreed(votes: Mapping[str, Votes], key: str, sent_ns: int) -> Mapping[str, Votes]:
    """Return the votes after a plain command has set a key, which was sent then."""
    before = votes.get(key)
    return votes if before is not None and before.script == PLAIN else {**votes, key: Votes(PLAIN, (sent_ns,))}


def with_answered(votes: Mapping[str, Votes], keys: Sequence[str], script: str, sent_ns: int) -> Mapping[str, Votes]:
    """Return the votes after an answer that only the lock understands. script: PLAIN for a command that can only take back."""
    after = {key: its for key, its in votes.items() if key not in keys}
    for key in keys if script else ():
        before = votes.get(key)
        earlier = before.sent_ns if before is not None and before.script == script else ()
        after[key] = Votes(script, (*earlier, sent_ns)[-servers:])
    return after


def first_vote_ns(votes: Mapping[str, Votes], key: str) -> int:
    """Return when the first command was sent that can have set this key in the present try; 0 where none is known."""
    return min(votes[key].sent_ns) if key in votes else 0
