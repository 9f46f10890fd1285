"""The votes for a lock on several servers: when the commands of the present try were sent that can have set a key.

A try that failed takes back what it has set, by another script or a deletion. Some locks do not, and ask anew. But a try asks
each server once. So the last answers of one script, as many as there are servers, are those of the last try.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

PLAIN = ""  # not a script: a command such as SET NX


class Votes(NamedTuple):
    """The votes for one key."""

    # of which script they are, or PLAIN
    script: str
    # when each command was sent; of plain commands only the first
    sent_ns: tuple[int, ...]


NO_VOTES: Mapping[str, Votes] = MappingProxyType({})
servers = 1  # of which the lock's store consists: set once in a replica, before its first request


def agreed(votes: Mapping[str, Votes], key: str, sent_ns: int) -> Mapping[str, Votes]:
    """Return the votes after a plain command has set a key, which was sent then."""
    before = votes.get(key)
    return votes if before is not None and before.script == PLAIN else {**votes, key: Votes(PLAIN, (sent_ns,))}


def answered(votes: Mapping[str, Votes], keys: Sequence[str], script: str, sent_ns: int) -> Mapping[str, Votes]:
    """Return the votes after an answer that only the lock understands. script: PLAIN for a command that can only take back."""
    after = {key: its for key, its in votes.items() if key not in keys}
    for key in keys if script else ():
        before = votes.get(key)
        earlier = before.sent_ns if before is not None and before.script == script else ()
        after[key] = Votes(script, (*earlier, sent_ns)[-servers:])
    return after


def first_ns(votes: Mapping[str, Votes], key: str) -> int:
    """Return when the first command was sent that can have set this key in the present try; 0 where none is known."""
    return min(votes[key].sent_ns) if key in votes else 0
