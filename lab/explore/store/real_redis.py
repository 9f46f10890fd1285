"""The connections to a real Redis server that the explorer alone uses. A database of it is emptied again and again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lab.explore.model import GRID_MS, on_grid
from lab.explore.store import commands
from lab.explore.store.commands import CLIENT, EXEC, FUNCTION, MULTI, SCRIPT, can_wait, commands_of, is_transaction, sha1
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
# what a server knows besides its keys: hashes of scripts, the code of functions, names and numbers of connections; each behind
# a word that says which of these it is
Memory = frozenset[Words]


class Message(NamedTuple):
    """What a command published."""

    channel: bytes
    text: bytes


class MachineStalled(Exception):  # noqa: N818 - states what happened
    """The machine did not run for so long that a key may have expired in the meantime. Another try may succeed."""


READ_ALL = ("EVALSHA", sha1(ALL_KEYS), 0)
NO_SCRIPT = b"f" * 40  # the hash of no script
FUNCTIONS, LOADS = (b"FCALL", b"FCALL_RO"), (*commands.TEXT, SCRIPT, commands.TRANSACTION)


class RealRedis:
    """A real server, asked for one execution after the other."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self._clients = {2: RespClient(host, port)}  # by the version of the protocol
        self._watching = RespClient(host, port)
        self._subscription = RespClient(host, port)
        self._subscription.send([("PSUBSCRIBE", "*")])
        self.scripts: dict[str, str] = {}  # by hash, all that were loaded
        self.noticed: set[bytes] = set()  # the hashes of those of which some client notices whether they are loaded
        self.clocked: set[bytes] = set()  # the hashes of those that may ask for the time
        self._on_clocks: set[str] = set()  # the hashes of what is loaded in their place
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
        self.send(("SCRIPT", "LOAD", script))

    def select(self, database: int) -> None:
        """Use another database from now on."""
        if database != self.database:
            self.database = database
            for one in self._clients.values():
                one.send([("SELECT", database)])

    def needs_clock(self, command: Words) -> bool:
        """Return whether a command depends on the clock. A script that it loads is known from here on."""
        for script in commands.loaded_by(command) if command[0] in LOADS else ():
            self.register(script)
        return commands.needs_clock(command, self.clocked)

    def as_sent(self, command: Words, now_ms: int, memory: Memory) -> list[Sequence[Any]]:
        """Return what the server is sent for a command. now_ms: the time of day, for a command that depends on it.

        memory: what it may know. Another script gets a hash that no script has.
        """
        if can_wait(command):  # in a transaction it answers at once, and nil where it would wait
            return [(MULTI,), command, (EXEC,)]
        if is_transaction(command):
            inner = [self.as_sent(one, now_ms, memory)[0] for one in commands_of(command)]
            return [(MULTI,), *inner, (EXEC,)]
        if command[0] == CLIENT:
            return [of_connection(command, memory)]
        if command[:2] == (SCRIPT, b"FLUSH"):
            return [("SELECT", self.database)]  # answers OK as well
        unknown = [sha for sha in commands.asked_for(command) & self.noticed if (SCRIPT, sha) not in memory]
        command = tuple([NO_SCRIPT if word in unknown else word for word in command])
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
        self, command: Words, first: Sequence[Sequence[Any]], now_ms: int, version: int, memory: Memory
    ) -> tuple[Reply, Contents, tuple[Message, ...]]:
        """Execute a command, and return its reply, what the database holds then, and what the command published.

        first: commands that bring the database to where it must be. All are sent at once: no key can expire in between.
        memory: what the server knows by heart.
        """
        if version not in self._clients:
            self._clients[version] = RespClient(self.host, self.port, version)
            self._clients[version].send([("SELECT", self.database)])
        client = self._clients[version]
        sent = self.as_sent(command, now_ms, memory)
        if command[0] == FUNCTION or any(one[0] in FUNCTIONS for one in commands.each_of(command)):
            libraries = [what for kind, what, *_ in memory if kind == FUNCTION]
            self.send((FUNCTION, "FLUSH"), *[(FUNCTION, "LOAD", one) for one in libraries])
            self._scripts_publish |= any(b"publish" in one.lower() for one in libraries)
        began_s = time.monotonic()
        *_, reply, keys = client.send([*first, *sent, READ_ALL])
        self.took_ms = (time.monotonic() - began_s) * 1000
        if can_wait(command) and isinstance(reply.value, tuple):  # the reply to the only command of a transaction
            reply = Reply(reply.raw[reply.raw.index(b"\r\n") + 2 :], reply.value[0])
        return reply, in_grid(keys.value), self.published() if self.publishes(command) else ()

    def remembered(self, memory: Memory, command: Words, reply: Reply) -> Memory:
        """Return what a server knows besides its keys after a command: of scripts only those that somebody notices."""
        name, part, what, kept = command[0], b"".join(command[1:2]), command[-1], memory
        if isinstance(reply.value, Failure):
            return memory
        match name, part:
            case (b"CLIENT", b"SETNAME"):
                kept = frozenset(one for one in memory if one[:2] != (b"GETNAME", what)) | {(b"GETNAME", what, command[2])}
            case (b"CLIENT", b"ID"):
                kept |= {(part, what, b"%d" % reply.value)}
            case (b"SCRIPT" | b"FUNCTION", b"FLUSH"):
                kept = frozenset(one for one in memory if one[0] != name)
            case (b"FUNCTION", _):
                kept = frozenset(one for one in memory if one[:1] + one[2:] != (name, reply.value)) | {(name, what, reply.value)}
        hashes = [sha1(text).encode() for text in commands.loaded_by(command)]
        return kept | {(SCRIPT, sha) for sha in hashes if sha in self.noticed}

    def touches(self, first: Sequence[Sequence[Any]], command: Words, key: bytes, now_ms: int, memory: Memory) -> bool:
        """Return whether a command touches a key. A second connection watches it: the server says whether in vain."""
        self.select(0)
        self.send(*first)
        self._watching.send([("WATCH", key)])
        self.send(*self.as_sent(command, now_ms, memory))
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


def of_connection(command: Words, memory: Memory) -> Sequence[Any]:
    """Return a command with the same answer as one that names a connection, or asks for its name or number."""
    part, connection = command[1], command[-1]
    if part == b"SETNAME":
        return command[:-1]
    known = next((one[2] for one in memory if one[:2] == (part, connection)), b"")
    if part == b"ID":
        known = known or b"%d" % (1 + sum(one[0] == part for one in memory))
    return ("EVAL", f"return ARGV[1] ~= '' and {'tonumber' if part == b'ID' else ''}(ARGV[1])", 0, known)


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
