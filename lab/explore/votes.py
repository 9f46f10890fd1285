"""Which keys are a lock: one key in one store, or the same key in most of several servers that do not know of each other.

A key at one of several servers is a vote. In the states and in the ghosts it has the number of its server: ``L@3``.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from app.lock import Stage
from lab.scenario.requirements import REDIS_NODES, VOTED


class Votes(NamedTuple):
    """How many servers a lock asks."""

    servers: int = 1

    @property
    def needed(self) -> int:
        """How many of them must agree."""
        return self.servers // 2 + 1

    def keys(self, lock: bytes) -> tuple[bytes, ...]:
        """Return the keys that are the lock of this name, one a server."""
        return _keys(lock, self.servers)

    def lock_of(self, key: bytes) -> bytes:
        """Return the name of the lock to which a key belongs."""
        return key if self.servers == 1 else key.rpartition(b"@")[0]

    def server_of(self, key: bytes) -> int:
        """Return the number of the server that has a key; 0 where there is only one."""
        return 0 if self.servers == 1 else int(key.rpartition(b"@")[2])


ONE = Votes()


def servers_of(stage: Stage) -> int:
    """Return of how many servers the lock's store consists."""
    return REDIS_NODES if stage.store == VOTED else 1


def restarted(servers: int) -> str:
    """Return what a restart ends, in words."""
    return "the store" if servers == 1 else "a server"


@cache
def _keys(lock: bytes, servers: int) -> tuple[bytes, ...]:
    return (lock,) if servers == 1 else tuple(at(lock, server) for server in range(1, servers + 1))


def at(key: bytes, server: int) -> bytes:
    """Return the name of a key at one of several servers."""
    return b"%s@%d" % (key, server)
