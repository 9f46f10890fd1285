"""Ask a real Redis server that only the explorer uses. It is emptied again and again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lab.explore.model import GRID_MS, on_grid
from lab.explore.store import commands
from lab.explore.store.commands import CLIENT, EXEC, FUNCTION, MULTI, SCRIPT, TRANSACTION, can_wait, commands_of, sha1
from lab.explore.store.resp import Failure, Reply, RespClient, Words
from lab.servers.own_redis import own_servers

MOST_MS = GRID_MS - 10  # the longest execution: a time to live that is read after it is rounded up to the grid
MOST_TRIES = 20  # tries of one execution, on a machine that stalls
# A script reads all keys, so a command and the state after it take one round trip. A key with at most 5 ms to live is deleted:
# otherwise it would expire before the next command or after it, by chance.
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
    # the value as DUMP serializes it
    value: bytes
    # 0 if the key does not expire
    ttl_ms: int


Contents = tuple[Key, ...]
# the facts that a server remembers besides its keys: hashes of scripts, code of functions, names and numbers of connections. The
# first word of each fact tells its kind
Memory = frozenset[Words]


class Message(NamedTuple):
    """A message that a command published."""

    channel: bytes
    text: bytes


class MachineStalled(Exception):  # noqa: N818 - an event
    """The machine stood still so long that a key may have expired. Another try may succeed."""


READ_ALL = ("EVALSHA", sha1(ALL_KEYS), 0)
NO_SCRIPT = b"f" * 40  # the hash of no script
FUNCTIONS, LOADS = (b"FCALL", b"FCALL_RO"), (*commands.TEXT, SCRIPT, commands.TRANSACTION)


class RealRedis:
    """A real server that executes one command after another."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self._clients = {2: RespClient(host, port)}  # by the version of the protocol
        self._watching = RespClient(host, port)
        self._subscription = RespClient(host, port)
        self._subscription.send([("PSUBSCRIBE", "*")])
        self.scripts: dict[str, str] = {}  # by hash: all scripts that were loaded
        self.noticed: set[bytes] = set()  # the hashes of scripts of which some client can tell whether they are loaded
        self.clocked: set[bytes] = set()  # the hashes and texts of scripts that may read the clock
        self._shimmed: set[str] = set()  # the hashes of loaded scripts that run on the clock of the search
        self.took_ms = 0.0  # the duration of the last execution: if it is longer than the grid, times to live are too short
        self.register(ALL_KEYS)
        self.send(("CONFIG", "SET", "rdbcompression", "no"))  # so that the values of DUMP can be read
        info = self.send(("INFO", "server"))[0].decode()
        self.version: str = info.partition("redis_version:")[2].partition("\r\n")[0]

    def close(self) -> None:
        """Close the connections."""
        for client in (*self._clients.values(), self._subscription, self._watching):
            client.close()

    def send(self, *commands: Sequence[Any]) -> list[Any]:
        """Send commands, and return the values of their replies."""
        return [reply.value for reply in self._clients[2].send(commands)]

    def register(self, script: str) -> None:
        """Load a script, unless it is loaded. FLUSHDB keeps it."""
        sha = sha1(script)
        if sha in self.scripts:
            return
        self.scripts[sha] = script
        if commands.is_clocked(script):
            self.clocked |= {sha.encode(), script.encode()}
        self.send(("SCRIPT", "LOAD", script))

    def needs_clock(self, command: Words) -> bool:
        """Return whether a command depends on the clock. Scripts that it loads are registered."""
        for script in commands.loaded_by(command) if command[0] in LOADS else ():
            self.register(script)
        return commands.needs_clock(command, self.clocked)

    def as_sent(self, command: Words, now_ms: int, memory: Memory) -> list[Sequence[Any]]:
        """Return the commands that are sent to the server for a command.

        now_ms: the time of day, for a command that depends on it. memory: the facts that the server knows in this state. The hash
        of a script that it does not know there is replaced by a hash that no script has.
        """
        if can_wait(command):  # in a transaction it answers at once: nil if it would wait
            return [(MULTI,), command, (EXEC,)]
        if command[0] == TRANSACTION:
            inner = [self.as_sent(words, now_ms, memory)[0] for words in commands_of(command)]
            return [(MULTI,), *inner, (EXEC,)]
        if command[0] == CLIENT:
            return [of_connection(command, memory)]
        if command[:2] == (SCRIPT, b"FLUSH"):
            return [("SELECT", 0)]  # is answered by OK as well, and keeps the scripts
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
        loaded = commands.with_shim(script)
        if (sha := sha1(loaded)) not in self._shimmed:
            self._shimmed.add(sha)
            self.send(("SCRIPT", "LOAD", loaded))
        return [("EVALSHA", sha, *others, now_ms)]

    def execute(
        self, command: Words, first: Sequence[Sequence[Any]], now_ms: int, version: int, memory: Memory
    ) -> tuple[Reply, Contents, tuple[Message, ...]]:
        """Execute a command, and return its reply, the keys after it, and the messages that it published.

        first: commands that bring the database to the state before. All are sent at once, so that no key expires in between.
        now_ms: the time of day. version: of the protocol. memory: the facts that the server knows besides the keys.
        """
        if version not in self._clients:
            self._clients[version] = RespClient(self.host, self.port, version)
        client = self._clients[version]
        sent = self.as_sent(command, now_ms, memory)
        if command[0] == FUNCTION or any(words[0] in FUNCTIONS for words in commands.each_of(command)):
            libraries = [code for kind, code, *_ in memory if kind == FUNCTION]
            self.send((FUNCTION, "FLUSH"), *[(FUNCTION, "LOAD", library) for library in libraries])
        began_s = time.monotonic()
        *_, reply, keys = client.send([*first, *sent, READ_ALL])
        self.took_ms = (time.monotonic() - began_s) * 1000
        if can_wait(command) and isinstance(reply.value, tuple):  # the reply to the only command of a transaction
            reply = Reply(reply.raw[reply.raw.index(b"\r\n") + 2 :], reply.value[0])
        return reply, in_grid(keys.value), self.published()

    def remembered(self, memory: Memory, command: Words, reply: Reply) -> Memory:
        """Return the facts that a server knows after a command; of scripts only the noticed ones."""
        name, part, last, kept = command[0], b"".join(command[1:2]), command[-1], memory
        if isinstance(reply.value, Failure):
            return memory
        match name, part:
            case (b"CLIENT", b"SETNAME"):
                kept = frozenset(fact for fact in memory if fact[:2] != (b"GETNAME", last)) | {(b"GETNAME", last, command[2])}
            case (b"CLIENT", b"ID"):
                kept |= {(part, last, b"%d" % reply.value)}
            case (b"SCRIPT" | b"FUNCTION", b"FLUSH"):
                kept = frozenset(fact for fact in memory if fact[0] != name)
            case (b"FUNCTION", _):
                kept = frozenset(fact for fact in memory if fact[:1] + fact[2:] != (name, reply.value))
                kept |= {(name, last, reply.value)}
        hashes = [sha1(text).encode() for text in commands.loaded_by(command)]
        return kept | {(SCRIPT, sha) for sha in hashes if sha in self.noticed}

    def touches(self, first: Sequence[Sequence[Any]], command: Words, key: bytes, now_ms: int, memory: Memory) -> bool:
        """Return whether a command touches a key: then the transaction of a second connection that watches the key fails."""
        self.send(*first)
        self._watching.send([("WATCH", key)])
        self.send(*self.as_sent(command, now_ms, memory))
        done = self._watching.send([("MULTI",), ("PING",), ("EXEC",)])[-1]
        self.published()
        return done.value is None

    def published(self) -> tuple[Message, ...]:
        """Return the messages that were published since the last call."""
        messages = []
        message = self._subscription.send([("PING",)])[0].value
        while message[0] != b"pong":
            messages.append(Message(message[2], message[3]))
            message = self._subscription.read().value
        return tuple(messages)


def in_grid(keys: Any) -> Contents:
    """Return the keys of a reply to READ_ALL, with times to live rounded up to the grid. Raises RuntimeError for an error."""
    if isinstance(keys, Failure):
        raise RuntimeError(keys.message)  # noqa: TRY004 - the server has answered with an error
    return tuple([Key(name, value, max(0, on_grid(ttl_ms))) for name, value, ttl_ms in keys])


def of_connection(command: Words, memory: Memory) -> Sequence[Any]:
    """Return a command with the answer that CLIENT SETNAME, GETNAME or ID would have on the client's own connection."""
    part, connection = command[1], command[-1]
    if part == b"SETNAME":
        return command[:-1]
    known = next((fact[2] for fact in memory if fact[:2] == (part, connection)), b"")
    if part == b"ID":
        known = known or b"%d" % (1 + sum(fact[0] == part for fact in memory))
    return ("EVAL", f"return ARGV[1] ~= '' and {'tonumber' if part == b'ID' else ''}(ARGV[1])", 0, known)


def loading(contents: Contents) -> list[tuple[Any, ...]]:
    """Return the commands that put exactly these keys into a database."""
    return [("FLUSHDB",), *(("RESTORE", key.name, key.ttl_ms, key.value) for key in contents)]


@contextlib.contextmanager
def redis_server() -> Iterator[RealRedis]:
    """Start a Redis server that only the explorer uses, and end it after the block."""
    with own_servers(1) as (server,):
        real = RealRedis(server.host, server.port)
        try:
            yield real
        finally:
            real.close()
