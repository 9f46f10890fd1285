"""The connections to a real Redis server that the explorer alone uses. A database of it is emptied again and again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lab.explore.model import GRID_MS, on_grid
from lab.explore.store import commands
from lab.explore.store.commands import EXEC, MULTI, can_wait, commands_of, is_transaction, sha1
from lab.explore.store.resp import Failure, Reply, RespClient, Words
from lab.servers.own_redis import own_servers

MOST_MS = GRID_MS - 10  # of an execution: a key's time to live is rounded up to the grid
MOST_TRIES = 20  # of an execution on a machine that stalls
# A script, so that to execute a command and to read what it did is one round trip. A key that has a few milliseconds to live has
# ended: it would end before the next command, or after it.
ALL_KEYS = """
local found = {}
for _, name in ipairs(redis.call('KEYS', '*')) do
    local left_ms = redis.call('PTTL', name)
    if left_ms >= 0 and left_ms <= 5 then
        redis.call('DEL', name)
    else
        table.insert(found, {name, redis.call('DUMP', name), left_ms})
    end
end
table.sort(found, function(one, other) return one[1] < other[1] end)
return found
"""


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


class MachineStalled(Exception):  # noqa: N818 - states what happened
    """The machine did not run for so long that a key may have expired in the meantime. Another try may succeed."""


READ_ALL = ("EVALSHA", sha1(ALL_KEYS), 0)


class Scripts:
    """What a server knows by heart: scripts and functions. Where no server is asked, all of them go nowhere."""

    def register(self, script: str) -> None:
        """Load a script."""

    def knows(self, sha: bytes) -> bool:
        """Return whether a script of this hash is loaded."""
        return True

    def load_functions(self, code: bytes) -> bytes:
        """Load a library of functions, and return what the server answers."""
        return b"+OK\r\n"

    def knows_function(self, text: bytes) -> bool:
        """Return whether a function is loaded that has this in its library, such as its name."""
        return True


class RealRedis(Scripts):
    """A real server, asked for one execution after the other."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self._clients = {2: RespClient(host, port)}  # by the version of the protocol
        self._watching = RespClient(host, port)
        self._subscription = RespClient(host, port)
        self._subscription.send([("PSUBSCRIBE", "*")])
        self.scripts: dict[str, str] = {}  # by hash, all that were loaded
        self.clocked: set[bytes] = set()  # the hashes of those that may ask for the time
        self._on_clocks: set[str] = set()  # the hashes of what is loaded in their place
        self._functions: dict[bytes, bytes] = {}  # by code, what the server answered
        self._scripts_publish = False
        self.database = 0  # the one that is in use
        self.took_ms = 0.0  # the last execution: longer than the grid, and a key has less to live than it should
        self.register(ALL_KEYS)
        self.send(("CONFIG", "SET", "rdbcompression", "no"))  # so that what DUMP returns can be read
        about = self.send(("INFO", "server"))[0].decode()
        self.version: str = about.partition("redis_version:")[2].partition("\r\n")[0]

    def close(self) -> None:
        """Close the connections."""
        for one in (*self._clients.values(), self._subscription, self._watching):
            one.close()

    def send(self, *commands: Sequence[Any]) -> list[Any]:
        """Send commands, and return the values of their replies."""
        return [one.value for one in self._clients[2].send(commands)]

    def register(self, script: str) -> None:
        """Load a script, unless it is loaded. Emptying a database keeps it. A script that may ask for the time gets the shim."""
        sha = sha1(script)
        if sha in self.scripts:
            return
        self.scripts[sha] = script
        self._scripts_publish |= "publish" in script.lower()
        if commands.is_clocked(script):
            self.clocked |= {sha.encode(), script.encode()}
        else:
            self.send(("SCRIPT", "LOAD", script))

    def knows(self, sha: bytes) -> bool:
        return sha.decode(errors="replace") in self.scripts

    def load_functions(self, code: bytes) -> bytes:
        """Load a library of functions, and return what the server answers. Raises ValueError where they ask for the time."""
        if code not in self._functions:
            if commands.is_clocked(code.decode(errors="replace")):
                raise ValueError("it loads functions that ask the server for the time, or add to a stream")
            self._functions[code] = self._clients[2].send([("FUNCTION", "LOAD", "REPLACE", code)])[0].raw
            self._scripts_publish |= b"publish" in code.lower()
        return self._functions[code]

    def knows_function(self, text: bytes) -> bool:
        return any(text in code for code in self._functions)

    def select(self, database: int) -> None:
        """Use another database from now on."""
        if database != self.database:
            self.database = database
            for one in self._clients.values():
                one.send([("SELECT", database)])

    def needs_clock(self, command: Words) -> bool:
        """Return whether a command depends on the clock."""
        return commands.needs_clock(command, self.clocked)

    def as_sent(self, command: Words, now_ms: int) -> list[Sequence[Any]]:
        """Return what the server is sent for a command. now_ms: the time of day, for a command that depends on it."""
        if can_wait(command):  # in a transaction it answers at once, and nil where it would wait
            return [(MULTI,), command, (EXEC,)]
        if is_transaction(command):
            inner = [self.as_sent(one, now_ms)[0] for one in commands_of(command)]
            return [(MULTI,), *inner, (EXEC,)]
        if not self.needs_clock(command):
            return [command]
        if command[0] in commands.SHA:
            script, others = self.scripts[command[1].decode()], command[2:]
        elif command[0] in commands.TEXT:
            script, others = command[1].decode(), command[2:]
        else:
            script, others = commands.ONE, (b"0", *command)
        loaded = commands.with_shim(script)  # which runs on the clock of the search
        if (sha := sha1(loaded)) not in self._on_clocks:
            self._on_clocks.add(sha)
            self.send(("SCRIPT", "LOAD", loaded))
        return [("EVALSHA", sha, *others, now_ms)]

    def execute(
        self, command: Words, first: Sequence[Sequence[Any]], now_ms: int = 0, version: int = 2
    ) -> tuple[Reply, Contents, tuple[Message, ...]]:
        """Execute a command, and return its reply, what the database holds then, and what the command published.

        first: commands that bring the database to where it must be. All are sent at once: no key can expire in between.
        """
        if version not in self._clients:
            self._clients[version] = RespClient(self.host, self.port, version)
            self._clients[version].send([("SELECT", self.database)])
        client = self._clients[version]
        sent = self.as_sent(command, now_ms)
        began_s = time.monotonic()
        *_, reply, keys = client.send([*first, *sent, READ_ALL])
        self.took_ms = (time.monotonic() - began_s) * 1000
        if can_wait(command) and isinstance(reply.value, tuple):  # the reply to the only command of a transaction
            reply = Reply(reply.raw[reply.raw.index(b"\r\n") + 2 :], reply.value[0])
        return reply, in_grid(keys.value), self.published() if self.publishes(command) else ()

    def touches(self, first: Sequence[Sequence[Any]], command: Words, key: bytes, now_ms: int) -> bool:
        """Return whether a command touches a key. A second connection watches it: the server says whether in vain."""
        self.select(0)
        self.send(*first)
        self._watching.send([("WATCH", key)])
        self.send(*self.as_sent(command, now_ms))
        done = self._watching.send([("MULTI",), ("PING",), ("EXEC",)])[-1]
        if self.publishes(command):
            self.published()
        return done.value is None

    def publishes(self, command: Words) -> bool:
        """Return whether a command may publish something."""
        if is_transaction(command):
            return any(map(self.publishes, commands_of(command)))
        return command[0] == b"PUBLISH" or (self._scripts_publish and command[0].startswith((b"EVAL", b"FCALL")))

    def published(self) -> tuple[Message, ...]:
        """Return the messages that came since the last call."""
        found = []
        message = self._subscription.send([("PING",)])[0].value
        while message[0] != b"pong":
            found.append(Message(message[2], message[3]))
            message = self._subscription.read().value
        return tuple(found)


def in_grid(keys: Any) -> Contents:
    """Return what READ_ALL has answered, with the time to live rounded up to the grid. Raises RuntimeError."""
    if isinstance(keys, Failure):
        raise RuntimeError(keys.message)  # noqa: TRY004 - the server has answered with an error
    return tuple([Key(name, value, max(0, on_grid(ttl_ms))) for name, value, ttl_ms in keys])


def loading(contents: Contents) -> list[tuple[Any, ...]]:
    """Return the commands that put exactly these keys into a database."""
    return [("FLUSHDB",), *(("RESTORE", key.name, key.ttl_ms, key.value) for key in contents)]


@contextlib.contextmanager
def redis_server() -> Iterator[RealRedis]:
    """Start a Redis server for the explorer alone, and end it after the block."""
    with own_servers(1) as (one,):
        real = RealRedis(one.host, one.port)
        try:
            yield real
        finally:
            real.close()
