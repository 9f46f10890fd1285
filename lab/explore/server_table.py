"""The real Redis as a table: state and command → next state and reply.

A state is each key with its value and its time to live. An entry that is missing is asked of the real server: it is emptied,
the state is loaded, the command is sent, and the new state is read. So Redis itself decides every answer: its Lua, its NX, its
PEXPIRE.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import redis

from lab.explore import transaction
from lab.explore.operation import Failure, Reply
from lab.explore.overlay import GRID_MS, on_grid

SCRATCH_DATABASE = 15
MOST_MS = GRID_MS - 10  # of an execution: a key's time to live is rounded up to the grid


# a script, so that to execute a command and to read what it did is one round trip
ALL_KEYS = """
local found = {}
for _, name in ipairs(redis.call('KEYS', '*')) do
    table.insert(found, {name, redis.call('DUMP', name), redis.call('PTTL', name)})
end
table.sort(found, function(one, other) return one[1] < other[1] end)
return found
"""
READ_ALL = ("EVALSHA", hashlib.sha1(ALL_KEYS.encode()).hexdigest(), 0)  # noqa: S324 - the name that Redis gives it


class Key(NamedTuple):
    """One key of a state."""

    name: bytes
    # as DUMP serialises it
    value: bytes
    # 0 where the key does not expire
    ttl_ms: int


Contents = tuple[Key, ...]


class Message(NamedTuple):
    """What a command published."""

    channel: bytes
    text: bytes


class Answer(NamedTuple):
    """What a command does to a state."""

    state: int
    reply: Reply
    published: tuple[Message, ...]


class RealRedis:
    """The connection to a real Redis server that the explorer alone uses. A database of it is emptied again and again."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self._client = redis.Redis(host=host, port=port, protocol=2, single_connection_client=False)
        self._connection = self._client.connection_pool.get_connection()
        self._watching: Any = None  # a second connection, once a key is watched
        self._subscription = self._client.pubsub()
        self._subscription.psubscribe("*")
        self._subscription.get_message(timeout=5)
        self.scripts: set[str] = set()  # all that were loaded
        self._scripts_publish = False
        self.database = 0  # the one that is in use
        self.took_ms = 0.0  # the last execution: longer than the grid, and a key has less to live than it should
        self.register(ALL_KEYS)
        self.send(("CONFIG", "SET", "rdbcompression", "no"))  # so that what DUMP returns can be read
        self.version: str = self._client.info("server")["redis_version"]

    def close(self) -> None:
        """Close the connections."""
        self._subscription.close()
        self._client.close()

    def send(self, *commands: Sequence[Any]) -> list[Reply]:
        """Send commands, and return their replies."""
        return self._send_on(self._connection, commands)

    def _send_on(self, connection: Any, commands: Sequence[Sequence[Any]]) -> list[Reply]:
        connection.send_packed_command(connection.pack_commands(commands))
        return [self._read(connection) for _ in commands]

    def _read(self, connection: Any) -> Reply:
        try:
            return _frozen(connection.read_response(disable_decoding=True))
        except redis.ResponseError as error:
            return Failure("ResponseError", str(error))

    def register(self, script: str) -> None:
        """Load a script, unless it is loaded. Emptying a database keeps it."""
        if script not in self.scripts:
            self.scripts.add(script)
            self._scripts_publish |= "publish" in script.lower()
            self.send(("SCRIPT", "LOAD", script))

    def select(self, database: int) -> None:
        """Use another database from now on."""
        if database != self.database:
            self.database = database
            self.send(("SELECT", database))

    def execute(self, command: tuple[bytes, ...], first: Sequence[Sequence[Any]]) -> tuple[Reply, Contents, tuple[Message, ...]]:
        """Execute a command, and return its reply, what the database holds then, and what the command published.

        first: commands that bring the database to where it must be. All are sent at once: no key can expire in between.
        """
        began_s = time.monotonic()
        *_, reply, keys = self.send(*first, *transaction.as_sent(command), READ_ALL)
        self.took_ms = (time.monotonic() - began_s) * 1000
        return reply, in_grid(keys), self.published() if self.publishes(command) else ()

    def touches(self, first: Sequence[Sequence[Any]], command: tuple[bytes, ...], key: bytes) -> bool:
        """Return whether a command touches a key. A second connection watches it: the server says whether in vain."""
        database = self.database
        self.select(SCRATCH_DATABASE)
        self.send(*first)
        if self._watching is None:
            self._watching = self._client.connection_pool.get_connection()
            self._send_on(self._watching, [("SELECT", SCRATCH_DATABASE)])
        self._send_on(self._watching, [("WATCH", key)])
        self.send(*transaction.as_sent(command))
        *_, done = self._send_on(self._watching, [("MULTI",), ("PING",), ("EXEC",)])
        if self.publishes(command):
            self.published()
        self.select(database)
        return done is None

    def publishes(self, command: tuple[bytes, ...]) -> bool:
        """Return whether a command may publish something."""
        if transaction.is_one(command):
            return any(map(self.publishes, transaction.commands_of(command)))
        return command[0].upper() == b"PUBLISH" or (self._scripts_publish and command[0].upper().startswith((b"EVAL", b"FCALL")))

    def published(self) -> tuple[Message, ...]:
        """Return the messages that came since the last call."""
        self._subscription.ping()
        found = []
        while (message := self._subscription.parse_response()) and message[0] != b"pong":
            found.append(Message(message[2], message[3]))
        return tuple(found)

    def contents(self) -> Contents:
        """Return the keys of the database."""
        return in_grid(self.send(READ_ALL)[0])


def in_grid(keys: Reply) -> Contents:
    """Return what READ_ALL has answered, with the time to live rounded up to the grid."""
    if isinstance(keys, Failure):
        raise redis.ResponseError(keys.message)
    return tuple(Key(name, value, max(0, on_grid(ttl_ms))) for name, value, ttl_ms in keys)


def loading(contents: Contents) -> list[tuple[Any, ...]]:
    """Return the commands that put exactly these keys into a database."""
    return [("FLUSHDB",), *(("RESTORE", key.name, key.ttl_ms, key.value) for key in contents)]


class ServerTable:
    """What a Redis server does, as far as it has been asked."""

    empty = 0  # the state without any key

    def __init__(self, real: RealRedis) -> None:
        self.real = real
        self.contents: list[Contents] = [()]
        self._numbers: dict[Contents, int] = {(): 0}
        self._answers: dict[tuple[int, tuple[bytes, ...]], Answer] = {}
        self._later: dict[tuple[int, int], int] = {}
        self._touched: dict[tuple[int, tuple[bytes, ...], bytes], bool] = {}

    @property
    def asked(self) -> int:
        """How many entries were asked of the real server."""
        return len(self._answers)

    def answer(self, state: int, command: tuple[bytes, ...]) -> Answer:
        """Return what a command does in a state."""
        found = self._answers.get((state, command))
        if found is None:
            self.real.select(0)
            reply, contents, published = self.real.execute(command, loading(self.contents[state]))
            while self.real.took_ms >= MOST_MS:
                reply, contents, published = self.real.execute(command, loading(self.contents[state]))
            found = self._answers[state, command] = Answer(self._number(contents), reply, published)
        return found

    def touches(self, state: int, command: tuple[bytes, ...], key: bytes) -> bool:
        """Return whether a command touches a key in a state: a transaction of a connection that watches the key then fails."""
        found = self._touched.get((state, command, key))
        if found is None:
            found = self._touched[state, command, key] = self.real.touches(loading(self.contents[state]), command, key)
        return found

    def later(self, state: int, passed_ms: int) -> int:
        """Return the state after some time in which nothing was sent."""
        found = self._later.get((state, passed_ms))
        if found is None:
            keys = [key for key in self.contents[state] if not key.ttl_ms or key.ttl_ms > passed_ms]
            left = tuple(key._replace(ttl_ms=key.ttl_ms - passed_ms) if key.ttl_ms else key for key in keys)
            found = self._later[state, passed_ms] = self._number(left)
        return found

    def expires_in_ms(self, state: int) -> int | None:
        """Return when the first key expires; None if no key does."""
        return min((key.ttl_ms for key in self.contents[state] if key.ttl_ms), default=None)

    def _number(self, contents: Contents) -> int:
        found = self._numbers.get(contents)
        if found is None:
            found = self._numbers[contents] = len(self.contents)
            self.contents.append(contents)
        return found


def _frozen(reply: Any) -> Reply:
    if isinstance(reply, list):
        return tuple(map(_frozen, reply))
    return Failure("ResponseError", str(reply)) if isinstance(reply, redis.ResponseError) else reply
