"""Speak Redis' protocol at the server's end of a connection: turn bytes into commands, and replies into bytes.

Commands that only introduce a client (HELLO, CLIENT SETINFO, AUTH), and commands between MULTI and EXEC, are answered at once,
without an event. If the answer to a command depends on more than the keys and the clock, the command is refused by name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from lab.explore.code.operation import GAVE_UP, LOST, CommandSent, FanOut, Listen, Until
from lab.explore.code.replica import Thread, current, running
from lab.explore.model import on_grid
from lab.explore.store import commands, resp
from lab.explore.store.resp import Words, encoded

OK, QUEUED = b"+OK\r\n", b"+QUEUED\r\n"
# by command that introduces a client or checks the connection: the answer
AT_ONCE = {
    **dict.fromkeys((b"AUTH", b"READONLY", b"READWRITE", b"QUIT"), OK),
    b"PING": b"+PONG\r\n",
}
HELLO = (b"server", b"redis", b"version", b"7.0.0", b"proto", 3, b"mode", b"standalone", b"role", b"master")
# the answer to INFO, without statistics, clocks and ports
VERSION = encoded(b"# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\n# Replication\r\nrole:master\r\n")
# by command and its first argument: the answer; b"" if the server answers. Other arguments of these commands have no model
KNOWN: dict[bytes, dict[bytes, bytes]] = {
    b"CLIENT": {
        **dict.fromkeys((b"SETINFO", b"NO-EVICT", b"NO-TOUCH", b"MAINT_NOTIFICATIONS"), OK),
        **dict.fromkeys((b"SETNAME", b"GETNAME", b"ID"), b""),
    },
    b"INFO": dict.fromkeys((b"", b"DEFAULT", b"ALL", b"EVERYTHING", b"SERVER", b"REPLICATION"), VERSION),
    b"SCRIPT": dict.fromkeys((b"LOAD", b"EXISTS", b"FLUSH"), b""),
    b"FUNCTION": dict.fromkeys((b"LOAD", b"FLUSH"), b""),
    b"SELECT": {b"0": OK},
}
KEPT = (commands.WATCH, commands.CLIENT, *commands.SUBSCRIBING)  # a server remembers these for each connection
NOT_FOLLOWED = {
    "the server draws at random": (b"SPOP", b"SRANDMEMBER", b"RANDOMKEY", b"HRANDFIELD", b"ZRANDMEMBER"),
    "the server answers from more than its keys": (b"OBJECT", b"PUBSUB"),
    "channels of a cluster have no model": (b"SSUBSCRIBE",),
    "groups keep the server's own clock in a stream": (b"XREADGROUP", b"XAUTOCLAIM", b"XCLAIM"),
    "the explorer's server has its own settings": (b"CONFIG",),
    "the explorer knows one database": (b"SWAPDB", b"MOVE"),
    "the explorer's server has no replica": (b"WAIT",),
    "it has no model": (b"XREAD", b"BLMPOP", b"BZMPOP", b"MONITOR", b"DEBUG", b"SHUTDOWN", b"REPLICAOF", b"WAITAOF", b"RESET"),
}
REFUSED = {name: why for why, names in NOT_FOLLOWED.items() for name in names}
REFUSED_IN_SCRIPTS = REFUSED | dict.fromkeys(KNOWN, "it has no model within a script or a transaction")


class Wire:
    """The server's end of one connection. The client's end is a ``Socket``, with or without an event loop."""

    def __init__(self, server: str, node: int) -> None:
        self.server, self.node = server, node
        self.number = 0  # until it sends a command of ``KEPT``: for other commands, the connection makes no difference
        self.version = 2
        self.timeout_s: float | None = None  # the time-out of the client's socket
        self.unread: deque[Words | bytes] = deque()  # commands without an answer; bytes are the answer to a command
        self.out = bytearray()  # bytes that the client has not read
        self.is_broken = False
        self.is_listening = False
        self.follows = False  # whether earlier commands of the same pipeline were answered
        self._thread: Thread | None = None  # the thread of the replica if an event loop waits for this connection
        self._partial = b""
        self._queued: list[Words] | None = None  # the commands of an open MULTI

    def feed(self, data: bytes) -> None:
        """Take bytes that the client has sent. Raises BrokenPipeError after the connection has broken."""
        if self.is_broken:
            raise BrokenPipeError(32, "Broken pipe")
        received, self._partial = resp.commands(self._partial + data if self._partial else data)
        if not self.unread:
            self.follows = False
        for words in received:
            self.unread.append(self._answer_or_command(words))
        if self.node:
            current().thread.sent.append(self)
        self._go_on()

    def _answer_or_command(self, words: Words) -> Words | bytes:
        """Return the answer, as bytes, to a command that is answered at once; otherwise the command, as the tables have it."""
        name = words[0].upper()
        if self._queued is not None and name not in (commands.EXEC, b"DISCARD", commands.WATCH):
            self._check((name,), REFUSED_IN_SCRIPTS)
            self._queued.append(self._known(words))
            return QUEUED
        if name == commands.MULTI:
            self._queued = []
            return OK
        if name == commands.EXEC and self._queued is not None:
            whole, self._queued = commands.as_transaction(self._queued), None
            return whole
        if name == b"DISCARD":
            self._queued = None
            return (commands.UNWATCH,)
        return self._at_once(name, words) or self._known(words)

    def _at_once(self, name: bytes, words: Words) -> bytes:
        """Return the answer to a command that introduces a client or asks about the server; b"" for other commands."""
        part = words[1].upper() if len(words) > 1 else b""
        match name:
            case b"HELLO":
                self.version = int(part or self.version)
                kind = b"*%d\r\n" % len(HELLO) if self.version == 2 else b"%%%d\r\n" % (len(HELLO) // 2)
                return kind + b"".join(map(encoded, HELLO))
            case b"ECHO" | b"PING" if part:
                return encoded(words[1])
            case b"PING" if self.is_listening:
                return encoded((b"pong", b""))
        answer = KNOWN[name].get(part) if name in KNOWN else AT_ONCE.get(name, b"")
        if answer is None:
            raise current().refuse(f"it sends {name.decode()} {part.decode()}, which has no model")
        return answer

    def _known(self, words: Words) -> Words:
        """Return a command with its name in capitals. Raises NotExplored if it has no model."""
        name = words[0].upper()
        self._check((name,), REFUSED)
        if name in KNOWN:
            words = (name, words[1].upper(), *words[2:])
        if name in commands.TEXT:
            self._check_script(words[1])
        if name in (b"SCRIPT", b"FUNCTION") and words[1] == b"LOAD":
            self._check_script(words[-1])
        if name == b"FUNCTION" and commands.is_clocked(words[-1].decode(errors="replace")):
            raise current().refuse("it loads functions that ask the server for the time, or add to a stream")
        if name in commands.SUBSCRIBING:
            self.is_listening = True
        return (name, *words[1:])

    def _check_script(self, text: bytes) -> None:
        self._check(commands.called_in(text), REFUSED_IN_SCRIPTS)
        if commands.ASKS_WHO_LISTENS.search(text):
            raise current().refuse("its script uses the reply to PUBLISH: the number of listeners has no model within a script")

    def _check(self, names: Iterable[bytes], refused: Mapping[bytes, str]) -> None:
        """Raise NotExplored for the first of these commands that is refused. names: of commands sent, or called by a script."""
        for name in names:
            if name in refused:
                raise current().refuse(f"it sends {name.decode()}: {refused[name]}")

    # for the client's end

    def fill(self, timeout_s: float | None) -> bool:
        """Wait until the client has bytes to read. Return False when the time is over. Raises ConnectionResetError."""
        while not self.out:
            if self.is_broken:
                raise ConnectionResetError(104, "Connection reset by peer")
            if self.unread and isinstance(self.unread[0], bytes):
                self.out += self.unread.popleft()  # type: ignore[arg-type] # as the line above says
            elif (timeout_s is not None and timeout_s <= 0) or not self._wait(timeout_s):
                return False
        return True

    def _wait(self, timeout_s: float | None) -> bool:
        here = current()
        if self.unread and self.unread[0][0] in commands.SUBSCRIBING:  # the reply comes as a message
            here.command(self.next_command(None))
            return True
        if self.unread:
            return self.take(self._answer(timeout_s))
        at_ms = None if timeout_s is None else here.now_ms + on_grid(timeout_s * 1000)
        if self.is_listening:
            return self.take(here.wait(Listen(at_ms, self.number)))
        here.wait(Until(at_ms))
        return False

    def _answer(self, timeout_s: float | None) -> Any:
        """Return the reply to the next command; None if several servers were asked: then each connection takes its own reply."""
        here = current()
        if not self.node:
            return here.command(self.next_command(timeout_s))
        wires: list[Wire] = [
            wire for wire in dict.fromkeys(here.thread.sent) if wire.unread and not isinstance(wire.unread[0], bytes)
        ]
        if self not in wires:
            wires.append(self)
        if len(wires) == 1:
            return here.command(self.next_command(timeout_s))
        commands_sent = tuple(wire.next_command(timeout_s) for wire in wires)
        here.thread.sent = [wire for wire in wires if wire.unread]
        for wire, reply in zip(wires, here.command(FanOut(commands_sent)), strict=True):
            wire.take(reply)
        return None

    # for an event loop, which waits for several connections: each connection has a thread of the replica

    @property
    def has_come(self) -> bool:
        """Return whether the client can read bytes, or the end of the connection."""
        return bool(self.out) or self.is_broken

    def serve_loop(self) -> None:
        """Let a thread of the replica wait for replies and messages, also while the client does not read."""
        here = current()
        if self._thread is None:
            self._thread = here.connection_of_loop(self._came)
            self._go_on()

    def _go_on(self) -> None:
        """Give the answers that come at once to the client, and wait for the next command or message."""
        if self._thread is None:
            return
        while self.unread and isinstance(self.unread[0], bytes):
            self.out += self.unread.popleft()  # type: ignore[arg-type] # as the line above says
        if self._thread.pending is None and not self.is_broken:
            if self.unread:
                self._thread.pending = self.next_command(None)
            elif self.is_listening:
                self._thread.pending = Listen(None, self.number)

    def _came(self, reply: Any) -> None:
        self.take(reply)
        self._go_on()

    def next_command(self, timeout_s: float | None) -> CommandSent:
        """Return the operation of the next command. timeout_s: the seconds after which its client gives up; None for never."""
        here = current()
        words, follows = self.unread.popleft(), self.follows
        assert isinstance(words, tuple)  # noqa: S101 - the caller knows that the next item is a command
        if not self.number and words[0] in KEPT:
            here.connections += 1
            self.number = here.connections
        behind = tuple(sent for sent in self.unread if isinstance(sent, tuple))
        self.follows = bool(behind)
        waits = commands.can_wait(words)
        after_ms = float(words[-1]) * 1000 if waits else 0
        until_ms = here.now_ms + on_grid(after_ms) if after_ms else None
        return CommandSent(
            self.server,
            words,
            *here.line(),
            behind=behind,
            follows=follows,
            connection=self.number,
            node=self.node,
            version=self.version,
            until_ms=until_ms,
            patience_ms=here.now_ms + on_grid(timeout_s * 1000) if waits and timeout_s is not None else None,
        )

    def take(self, reply: Any) -> bool:
        """Take a reply or a message. Return False if the client has given up, or no message came."""
        if reply is LOST:
            self.is_broken = True
        elif reply is GAVE_UP:
            self.is_broken = True  # the reply may still come, and is not read
            return False
        elif isinstance(reply, bytes):
            self.out += reply
        elif isinstance(reply, tuple):
            self.out += encoded(reply, push=self.version > 2)
        elif reply is None and self.is_listening and not self.unread:
            return False
        return True

    def close(self) -> None:
        """End the connection."""
        self.is_broken = True
        if self.is_listening and running() is not None:
            current().closed.add(self.number)
        self.unread.clear()
        self.out.clear()
        if self._thread is not None:
            self._thread.pending = None
