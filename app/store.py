"""What a lock may ask of its store: for each store the calls that a stage may make, and no others.

A stage is handed its store as the first argument of its constructor. The clients in ``app/stores`` have these calls, and a
test holds the stages to them. Commands are counted, and reach the failpoints, below these calls: at the connections.

A lock of a library needs a client of that library. Each store has ``plain`` for that. What a plain client sends is counted as
well, and a fault can be injected into it. Without a type here, the client is that of redis-py, kazoo, etcd3gw, PyMySQL
or psycopg.

Only the standard library is used, so that a stage can be read on a machine where nothing is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Errors = type[Exception] | tuple[type[Exception], ...]


class Store(Protocol):
    """What every store has."""

    # what a call raises when the store does not answer, or answers with an error; a stage catches it as ``self.store.Error``
    Error: Errors


class Script(Protocol):
    """A Lua script that Redis knows."""

    def __call__(self, keys: Sequence[str], args: Sequence[Any]) -> Any:
        """Run the script as one step of the server, and return what the script returned."""


class Channel(Protocol):
    """A Redis channel to which this process is subscribed."""

    def wait(self, at_most_s: float) -> None:
        """Wait until a message comes, but no longer than this. A message wakes one waiter of the process."""


class Subscriptions(Protocol):
    """The channels to which this process is subscribed, by one connection for all its threads."""

    def channel(self, name: str) -> AbstractContextManager[Channel]:
        """Subscribe to a channel for the duration of a block. It begins once the server has confirmed, so no message is missed.

        The process is subscribed while at least one of its threads listens.
        """


class RedisStore(Store, Protocol):
    """One Redis server: ``store="redis"``. The calls are those of redis-py; texts come back as ``str``."""

    def set(self, name: str, value: Any, *, nx: bool = False, px: int | None = None) -> bool | None:
        """Set a key. ``nx``: only if it does not exist. ``px``: it expires after this many milliseconds. None if not set."""

    def get(self, name: str) -> str | None:
        """Return the value of a key, None if there is no such key."""

    def delete(self, *names: str) -> int:
        """Delete keys, and return how many of them existed."""

    def pexpire(self, name: str, time: int) -> bool:
        """Let a key expire after this many milliseconds. Return whether the key exists."""

    def plain(self, **options: Any) -> Any:
        """Return a ``redis.Redis`` for a library: this client, or one with other ``options`` of redis-py (one for a process)."""

    def register_script(self, script: str) -> Script:
        """Return a Lua script as a function; nothing is sent before the function is called."""

    @property
    def subscriptions(self) -> Subscriptions:
        """The channels of this process."""


class RedisNodesStore(Store, Protocol):
    """Several independent Redis servers: ``store="redis_nodes"``."""

    def all(self, *command: Any) -> list[Any]:
        """Send one command to all servers at once. Return their answers in order; a server without an answer gives its error."""

    def plain(self, **options: Any) -> list[Any]:
        """Return a ``redis.Redis`` for each server, for a library. Its commands are counted one by one."""


class ZooKeeperStore(Store, Protocol):
    """A ZooKeeper ensemble: ``store="zookeeper"``. A lock first asks for its session."""

    def session(self, timeout_ms: int) -> ZooKeeperSession:
        """Return this process's session with this timeout; the first call begins it."""

    def plain(self, timeout_ms: int) -> Any:
        """Return the ``KazooClient`` of the session with this timeout, for a library, or a recipe as ``Lock`` is."""


class ZooKeeperSession(Store, Protocol):
    """A session: its ephemeral nodes are deleted when its heartbeats stop."""

    # no reply came: the command may have been carried out or not, and the caller must look
    Unanswered: Errors

    @property
    def connected(self) -> bool:
        """Whether a server has answered within two thirds of the timeout: until then the session cannot have ended by itself."""

    def create_ephemeral_sequential(self, path: str) -> tuple[str, Any]:
        """Create a node of this session whose name ends with the next number. Return its path, and its record with ``czxid``."""

    def get_children(self, path: str) -> list[str]:
        """Return the names of the nodes below a path; an empty list if the path does not exist."""

    def exists(self, path: str, watch: Callable[[Any], object] | None = None) -> Any:
        """Return the record of a node, None if it does not exist. ``watch`` is called once, when that changes."""

    def delete(self, path: str) -> bool:
        """Delete a node, and return whether it existed."""


class EtcdStore(Store, Protocol):
    """An etcd cluster: ``store="etcd"``."""

    def plain(self) -> Any:
        """Return an ``Etcd3Client`` for a library. It asks only the server that answered last."""

    def session(self, ttl_s: int) -> EtcdSession:
        """Return this process's session whose lease has this time. The first call begins it, and the first after its end."""

    def delete(self, key: str) -> bool:
        """Delete a key, and return whether it existed."""

    def last_two(self, prefix: str, up_to_revision: int) -> Sequence[Any]:
        """Return the last two keys with this prefix that were created by this revision, the younger first.

        Each has ``key``, ``revision`` (its create revision) and ``seen`` (the revision of the store at the time of the look).
        """

    def wait_until_deleted(self, key: str, since_revision: int, timeout_s: float) -> bool:
        """Wait until a key is deleted, at or after this revision. Return False if that took longer than the timeout."""


class EtcdSession(Protocol):
    """A session: a lease that the client keeps alive. Its keys are deleted when the lease ends."""

    @property
    def lease(self) -> int:
        """The number of its lease."""

    def create(self, key: str, queue: str) -> tuple[int, int] | None:
        """Create a key of this session in a queue, if it does not exist. ``queue`` is the prefix of all its keys.

        Return the create revisions of the key and of the first key in the queue; None if the session has ended.
        """


class MySQLStore(Store, Protocol):
    """A MariaDB or MySQL server: ``store="mysql"``."""

    # the unique key exists already
    Duplicate: Errors
    # transactions waited for each other, and the server undid this one
    Deadlock: Errors
    # the statement took longer than it was allowed to; the transaction is still open
    TimedOut: Errors

    @property
    def in_transaction(self) -> bool:
        """Whether this thread has an open transaction."""

    def transaction(self) -> AbstractContextManager[None]:
        """BEGIN, and COMMIT at the end of the block, or ROLLBACK if it raises. Within another transaction: a part of that."""

    def plain(self, **options: Any) -> Any:
        """Return a new ``pymysql.Connection`` for a library, with autocommit. The caller closes it."""

    def execute(self, statement: str, *values: object) -> int:
        """Run one statement, and return how many rows it found or changed."""


class PostgreSQLStore(Store, Protocol):
    """A PostgreSQL server: ``store="postgresql"``."""

    @property
    def parameters(self) -> dict[str, Any]:
        """How to connect, by libpq's names: for a library that makes connections of its own."""

    def plain(self, **options: Any) -> Any:
        """Return a new ``psycopg.Connection`` for a library, with autocommit. The caller closes it."""


# by the name that a stage gives as its store
STORES: dict[str, type] = {
    "redis": RedisStore,
    "redis_nodes": RedisNodesStore,
    "zookeeper": ZooKeeperStore,
    "etcd": EtcdStore,
    "mysql": MySQLStore,
    "postgresql": PostgreSQLStore,
}
