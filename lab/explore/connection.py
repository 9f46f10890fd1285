"""The seam: redis-py's own client, whose connections wait for the search instead of a socket.

What redis-py sends goes through ``send_command`` or ``send_packed_command``, whichever library uses it. So a stage, its scripts
and libraries run unchanged. A script is loaded into the real server when it is registered: a reply NOSCRIPT is no event.

A thread that has sent a command to each of several servers, and reads the first answer, waits for all of them: nothing that it
does between two of these answers could be seen by others.
"""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from types import FrameType
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.connection import AbstractConnection
from redis.exceptions import ResponseError
from redis.retry import Retry

from app import locks
from app.journal import Journal
from app.stores.redis import CLIENT_OPTIONS
from app.stores.redis import Redis as LabRedis
from lab.explore import replica, transaction
from lab.explore.copies import shared
from lab.explore.operation import LOCK, Command, Failure, FanOut, Listen, Reply
from lab.explore.overlay import Event
from lab.explore.server_table import RealRedis
from lab.explore.transaction import UNWATCH, WATCH

SUBSCRIBING = {b"SUBSCRIBE", b"UNSUBSCRIBE", b"PSUBSCRIBE", b"PUNSUBSCRIBE"}
SHELF = str(Path(locks.__file__).parent)
MOST_CONNECTIONS = 1_000_000  # they are only objects
# by the name that ``Failure`` has
ERRORS = {"TimeoutError": redis.TimeoutError, "ConnectionError": redis.ConnectionError, "ResponseError": ResponseError}


class NotExplored(BaseException):
    """The stage does something that the explorer has no model of. The message says what."""


class Connection(AbstractConnection):  # type: ignore[misc] # redis-py has no types
    """A connection to the lock's store, to one of its servers where it has several, or to the counter. It is always connected."""

    def __init__(self, server: str = "", node: int = 0, **options: Any) -> None:
        super().__init__(**options)
        self.server, self.node = server, node
        self.unread: deque[tuple[bytes, ...]] = deque()
        self.follows = False  # whether others of the same pipeline were answered
        self.answers: deque[Reply] = deque()  # of one of several servers: what came together with the answer of another
        self.confirmed: deque[bytes] = deque()  # what a transaction answers before EXEC
        self.listening = False
        self.watched_by: Any = None  # the thread that watches keys on it

    def remembered(self) -> tuple[Any, ...]:
        """Return what the connection holds for the thread that uses it."""
        unread, confirmed, answers = tuple(self.unread), tuple(self.confirmed), tuple(self.answers)
        return self.server, self.node, unread, confirmed, answers, self.listening, self.follows

    def connect(self) -> None:
        """Do nothing: the connection is there."""

    def disconnect(self, *_: Any, **__: Any) -> None:
        self.unread.clear()
        self.answers.clear()
        self.follows = False
        if self.watched_by is not None:
            self.watched_by.watcher = self.watched_by = None
        self.confirmed.clear()

    def _connect(self) -> Any:
        raise NotImplementedError

    def _host_error(self) -> str:
        return self.server

    def repr_pieces(self) -> list[tuple[str, Any]]:
        return [("server", self.server), ("node", self.node)]

    @property
    def is_connected(self) -> bool:
        return True

    def can_read(self, timeout: float | None = 0) -> bool:
        if self.unread or self.answers:
            return True
        if not self.listening or timeout == 0:
            return False
        raise NotExplored("it waits for a message with a time-out at the connection")

    def send_command(self, *args: Any, **_: Any) -> None:
        self._send(self._words(args))

    def _words(self, args: Any) -> tuple[bytes, ...]:
        words = tuple(part if isinstance(part, bytes) else self.encoder.encode(part) for part in args)
        return tuple(words[0].split()) + words[1:]

    def pack_commands(self, commands: Any) -> Any:
        """Leave the commands of a pipeline as they are: nothing is sent through a socket."""
        return [self._words(args) for args in commands]

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        """Send a pipeline: its commands travel together, and each is executed by itself. A transaction is executed as a whole."""
        if not isinstance(command, list) or not all(isinstance(words, tuple) for words in command):
            raise NotExplored("it sends what it has packed itself")
        if command and command[0] == (transaction.MULTI,):
            self._alone_watches("it executes a transaction on one connection, and watches keys on another")
            self.unread.append(transaction.as_one(command[1:-1]))
            self.confirmed.extend([b"OK", *[b"QUEUED"] * (len(command) - 2)])
        else:
            self.unread.extend(command)
        if self.node:
            replica.current().thread.sent.append(self)

    def _send(self, words: tuple[bytes, ...]) -> None:
        if words[0].upper() == WATCH:
            if self.node:
                raise NotExplored("it watches keys at one of several servers")
            self._watch()
        if words[0].upper() in SUBSCRIBING and self.node:
            raise NotExplored("it subscribes to a channel at one of several servers")
        if words[0].upper() in SUBSCRIBING:  # nobody waits for the reply: it is a message
            self.listening = True
            replica.current().wait(Command(self.server, words, *_line()))
            return
        self.unread.append(words)
        if self.node:
            replica.current().thread.sent.append(self)

    def _watch(self) -> None:
        self._alone_watches("it watches keys on two connections at once")
        self.watched_by = replica.current().thread
        self.watched_by.watcher = self

    def _alone_watches(self, otherwise: str) -> None:
        if replica.current().thread.watcher not in (None, self):
            raise NotExplored(otherwise)

    def _watches_until(self, words: tuple[bytes, ...]) -> bool:
        """Return whether the connection watches keys before a command is executed; after some it does not any more."""
        thread = replica.current().thread
        watches = thread.watcher is self and words[0].upper() != WATCH
        if watches and (words[0].upper() == UNWATCH or transaction.is_one(words)):
            thread.watcher = None
        return watches

    def read_response(self, disable_decoding: bool = False, **_: Any) -> Any:
        if self.confirmed:
            return self._decoded(self.confirmed.popleft(), disable_decoding)
        reply = self._answer_of_node() if self.node else replica.current().wait(self._next() if self.unread else Listen(None))
        if isinstance(reply, Failure):
            raise ERRORS[reply.kind](reply.message)
        return self._decoded(reply, disable_decoding)

    def _next(self) -> Command:
        words, follows = self.unread.popleft(), self.follows
        self.follows = bool(self.unread)
        return Command(self.server, words, *_line(), tuple(self.unread), follows, self._watches_until(words))

    def _answer_of_node(self) -> Reply:
        """Return the answer of one of several servers. All that the thread has asked without reading answer now."""
        if not self.answers:
            here, line = replica.current(), _line()
            asked = [one for one in dict.fromkeys(here.thread.sent) if one.unread]
            commands = tuple(Command(one.server, one.unread.popleft(), *line, node=one.node) for one in asked)
            here.thread.sent = [one for one in asked if one.unread]
            replies = here.wait(FanOut(commands)) if len(commands) > 1 else (here.wait(commands[0]),)
            for one, reply in zip(asked, replies, strict=True):
                one.answers.append(reply)
        return self.answers.popleft()

    def _decoded(self, reply: Reply, raw: bool) -> Any:
        if isinstance(reply, tuple):
            return [self._decoded(one, raw) for one in reply]
        if isinstance(reply, Failure):
            return ResponseError(reply.message)
        return reply if raw or not isinstance(reply, bytes) else self.encoder.decode(reply)


def _line() -> tuple[str, int]:
    """Return the file and line of the stage that runs: the innermost frame of it, or of a stage that it imports."""
    paths = (replica.current().path, SHELF)
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - as the module traceback does
    while frame is not None:
        if frame.f_code.co_filename.startswith(paths):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "", 0


class Client(LabRedis):
    """The client of one server, for all replicas: only one of them runs at a time."""

    real: RealRedis

    def register_script(self, script: Any) -> Any:
        self.real.register(script)
        return super().register_script(script)

    def pubsub(self, **options: Any) -> Any:
        made = super().pubsub(**options)
        made.subscribed_event = Event()  # the real one would stop the explorer, and not one thread of a replica
        return made

    def _other(self, **options: Any) -> Any:
        known = self.connection_pool.connection_kwargs
        made = client(known["server"], self.real, known["node"])
        made.connection_pool.connection_kwargs.update(options)
        return made

    @property
    def subscriptions(self) -> Any:
        """The channels of the replica that runs."""
        kept = replica.current().kept
        if self not in kept:
            kept[self] = shared("app.stores.redis_subscriptions").Subscriptions(self.pubsub, self.Error)
        return kept[self]


def client(server: str, real: RealRedis, node: int = 0) -> Client:
    """Make the client for stages (LOCK) or their resource (COUNTER). node: which of several servers, counted from 1."""
    options: dict[str, Any] = {name: value for name, value in CLIENT_OPTIONS.items() if name != "retries"}
    options |= {"decode_responses": True, "retry": Retry(NoBackoff(), 0), "driver_info": None, "server": server, "node": node}
    made = Client(connection_pool=redis.ConnectionPool(connection_class=Connection, max_connections=MOST_CONNECTIONS, **options))
    made.real = real
    return made


_Nodes: Any = shared("app.stores.redis_nodes").RedisNodes


class Nodes(_Nodes):  # type: ignore[misc] # a copy of app.stores.redis_nodes, whose time is that of the search
    """The client of several servers for stages: it sends a command to each before it reads any answer."""

    def __init__(self, number: int, real: RealRedis) -> None:
        self.nodes = [client(LOCK, real, node) for node in range(1, number + 1)]
        self.journal = Journal(None)
