"""Count commands and inject faults at the connections of a lock to Redis.

Every command of redis-py goes through ``send_command`` or ``send_packed_command`` of a connection: single commands, pipelines,
WATCH and MULTI, subscriptions. Which client sends it does not matter: a replica counts each connection to a server of the lock
(``count_all``), also if a library makes the client. The commands that redis-py sends by itself do not count:
HELLO, AUTH, CLIENT SETINFO, SELECT, and the PING of a health check.
"""

from __future__ import annotations

from asyncio import wrap_future
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, cached_property, partial
from time import monotonic_ns
from typing import Any, NamedTuple

import redis
from redis.asyncio.connection import AbstractConnection as AsyncConnection
from redis.connection import AbstractConnection
from redis.sentinel import SentinelManagedConnection

from app.failpoints.injection import ReplyDropped, ReplyLost
from app.request.answer import AGREED, LOOKED, NO_KEY, NOTHING, OPEN, REFUSED, Meaning
from app.request.context import COUNTING, here
from app.request.steps import Steps
from app.settings import Address
from app.stores.redis_commands import (
    GRANTS_LATE,
    LISTENING,
    NOT_ABOUT_THE_LOCK,
    TRANSACTION,
    WAITING,
    Command,
    keys,
    meaning,
    prolongs,
    script,
    text,
    unpacked,
    words,
)
from app.stores.redis_steps import Call, Stepped, at_once, done

SERVERS: set[tuple[str, int]] = set()  # commands to these servers are counted, whichever client of this process sends them
INTRODUCE, INTRODUCE_ASYNC = AbstractConnection.on_connect_check_health, AsyncConnection.on_connect_check_health


class Awaited(NamedTuple):
    """A command that was sent, and is not yet answered."""

    command: Command
    # whether it was sent alone, and not in a pipeline
    alone: bool


class Seam(Stepped):
    """The state of a connection's commands, for threads and for asyncio."""

    # the port of the server
    port: int = 0
    # the commands that were sent and are not yet answered; None for each that does not count
    awaited: deque[Awaited | None]
    # the commands of the open MULTI
    queued: list[Command]
    # whether commands are not counted: while redis-py introduces itself to the server, and always on a connection of the counter
    uncounted: bool

    def begin(self) -> None:
        """Forget the commands of an earlier connection to the server."""
        self.awaited, self.queued, self.ordered = deque(), [], deque()
        self.listening = self.stepping = False

    def forget(self) -> None:
        """Forget the commands that wait for an answer: the connection ends."""
        self.awaited.clear()
        self.ordered.clear()

    def _counts(self, commands: Sequence[Command], check_health: bool = True) -> bool:
        """Note the commands that will be sent, and reach the failpoints. Return whether their answers are awaited."""
        if not COUNTING.get():
            return False
        if commands[0][0] == "PING" and not check_health:  # redis-py's health check
            if not self.listening:
                self.awaited.append(None)
            return False
        carried_out = self.queued if commands[0][0] == "EXEC" and self.queued else commands
        here().sending(commands[-1][0], len(commands), redis.ConnectionError, keys_of_all(carried_out))
        return True

    def _await(self, commands: Sequence[Command], alone: bool) -> None:
        for command in commands:
            if self.listening or command[0] in LISTENING:
                self.listening = True
                self._answered(command, "sent")
            else:
                self.awaited.append(Awaited(command, alone))

    async def introduce(self, connect: Callable[[], Any], counts: bool = True) -> None:
        """Begin a new connection. The commands that redis-py sends now do not count."""
        self.begin()
        self.uncounted = True
        try:
            await done(connect())
        finally:
            self.uncounted = not counts
        self.stepping = Steps.address is not None

    async def _transmit(self, send: Callable[..., Any], packed: Any, check_health: bool, *commands: Command) -> None:
        """Send one command, or several in one text, such as a pipeline. Commands that are not given are read from the text."""
        if self.uncounted:
            await done(send(packed, check_health))
            return
        packed, before_ns = in_one(packed), here().sent.at_ns
        commands = commands or tuple(unpacked(packed))
        counts = self._counts(commands, check_health)
        if counts and commands[-1][0] in LISTENING:  # it grants nothing: a lease counts from the command before it
            here().sent.at_ns = before_ns
        await done(send([packed], check_health))
        if counts:
            self._await(commands, alone=len(commands) == 1)

    async def _receive(self, read: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        sent = self.awaited[0] if self.awaited else None
        if sent is None:
            if self.awaited:
                self.awaited.popleft()
            return await done(read(*args, **kwargs))
        try:
            answer = await done(read(*args, **kwargs))
        except redis.ResponseError as error:
            self._refused(sent.command, error)
            raise
        except BaseException as error:  # also the cancellation of a task that waits for an answer
            self._unanswered(sent.command, error)
            raise
        try:
            if self._take(sent, answer):
                return answer
        except redis.ConnectionError:
            await done(self.disconnect(nowait=True))  # type: ignore[attr-defined] # of the connection
            raise
        again: Any = self  # a client that sends a command again after a lost reply does the same
        await done(again.send_command(*sent.command))
        return await done(again.read_response(*args, **kwargs))

    def _take(self, awaited: Awaited, answer: Any) -> bool:
        """Take the answer to the first awaited command. Return False if the command must be sent again.

        Raises ConnectionError for a reply that is lost: no client sends half a pipeline again.
        """
        self.awaited.popleft()
        try:
            self._answered(awaited.command, answer)
        except ReplyLost as lost:
            if isinstance(lost, ReplyDropped) or not awaited.alone or awaited.command[0] == "EXEC":
                raise redis.ConnectionError("the reply was lost, and the connection with it") from lost
            return False
        return True

    def _refused(self, command: Command, error: redis.ResponseError) -> None:
        """Note that the server answered with an error."""
        self.awaited.popleft()
        self.queued = []
        here().answered(command[0], f"error: {error}", NOTHING, keys(command), server=self.port)

    def _unanswered(self, command: Command, error: BaseException) -> None:
        here().answered(command[0], error, keys=keys(command), server=self.port)

    def _answered(self, command: Command, answer: Any) -> None:
        """Note the answer, reach the failpoints, and journal a command outside any request."""
        means, carried_out = meaning(command, answer), [command]
        if command[0] in TRANSACTION:
            if isinstance(answer, list) and self.queued:
                means, carried_out = _of_transaction(self.queued, answer), self.queued
            self.queued = []
        elif answer == "QUEUED" or answer == b"QUEUED":  # noqa: PLR1714 - quicker than a membership: this is each command
            self.queued.append(command)
            means = NOTHING
        elif isinstance(answer, bytes):
            answer = text(answer)
        names, renews = keys_of_all(carried_out), any(map(prolongs, carried_out))
        if command[0] in GRANTS_LATE:  # it waited at the store, which granted it just now, and not when it was sent
            here().sent.at_ns = monotonic_ns()
        here().answered(command[0], answer, means, names, script=script(command), server=self.port, prolongs=renews)


class Counted(Seam, AbstractConnection):
    """A connection that reaches the failpoints, counts commands, and journals the commands that are sent outside any request."""

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        packed, command = self._command_packer.pack(*args), words(args)
        send = partial(self._transmit, super().send_packed_command, packed, kwargs.get("check_health", True), command)
        at_once(self._hold(send, command) if self.stepping else send())

    def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        at_once(self._transmit(super().send_packed_command, command, check_health))

    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        sent = self.awaited[0] if self.awaited else None
        if sent is not None and sent.command[0] in WAITING:
            kwargs.setdefault("timeout", None)  # the server ends the wait, however long the client waits for other answers
        read = partial(self._receive, super().read_response, *args, **kwargs)
        return at_once(self._held_reply(read) if self.stepping else read())

    def disconnect(self, *args: Any, **kwargs: Any) -> None:
        self.forget()
        super().disconnect(*args, **kwargs)


class CountedAsync(Seam, AsyncConnection):
    """The same for an asyncio client.

    A lock may run an event loop in the thread of its request, or hand a coroutine to the loop of another thread. The context of
    the request follows its tasks, so their commands belong to that request.
    """

    @cached_property
    def _holder(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1)

    async def _at(self, call: Call, at: str, **details: Any) -> Any:
        """Wait in a thread of its own, so that the tasks of the event loop go on."""
        return await wrap_future(self._holder.submit(copy_context().run, partial(call, at, **details)))

    async def send_command(self, *args: Any, **kwargs: Any) -> None:
        send = partial(super().send_command, *args, **kwargs)
        await (self._hold(send, words(args)) if self.stepping else send())

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        if not self.is_connected:
            await self.connect_check_health(check_health=False)
        await self._transmit(super().send_packed_command, command, check_health)

    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        read = partial(self._receive, super().read_response, *args, **kwargs)
        return await (self._held_reply(read) if self.stepping else read())

    async def disconnect(self, *args: Any, **kwargs: Any) -> None:
        self.forget()
        await super().disconnect(*args, **kwargs)


def in_one(command: Any) -> bytes:
    """Return what redis-py packed for sending, in one piece or several, as one piece of bytes in the Redis protocol."""
    parts = [command] if isinstance(command, (str, bytes)) else command
    return b"".join(part.encode() if isinstance(part, str) else part for part in parts)


def keys_of_all(commands: Sequence[Command]) -> tuple[str, ...]:
    """Return the keys of several commands; NO_KEY if none of them can have one."""
    if all(command[0] in TRANSACTION or command[0] in NOT_ABOUT_THE_LOCK for command in commands):
        return NO_KEY
    return tuple(key for command in commands for key in keys(command))


def _of_transaction(commands: list[Command], answers: list[Any]) -> Meaning:
    """Return the common meaning of the answers to a transaction's commands: AGREED if the store agreed to one of them."""
    meanings = {meaning(command, answer) for command, answer in zip(commands, answers, strict=False)}
    return next((candidate for candidate in (AGREED, OPEN, LOOKED, REFUSED) if candidate in meanings), NOTHING)


def counted(connection: Any) -> Any:
    """Make a connection of any class of redis-py a counted one, and return it."""
    if not isinstance(connection, Seam):
        kind: Any = type(connection)
        connection.__class__ = _counted(kind)
    return connection


def count_all(addresses: Iterable[Address]) -> None:
    """Count the commands of each client of this process to these servers, also of a client that a library makes.

    A connection with a hook of its own is left alone. The client of the counter has one, ``uncounted``.
    """
    SERVERS.update((_host(address.host), address.port) for address in addresses)
    AbstractConnection.on_connect_check_health = _introduce  # redis-py has no hook for all clients
    AsyncConnection.on_connect_check_health = _introduce_async


def _introduce(connection: Any, check_health: bool = True) -> None:
    """Begin a new connection; count it if it leads to a server of the lock."""
    begin = partial(INTRODUCE, connection, check_health)
    if connection.redis_connect_func is None and _is_of_the_lock(connection):
        at_once(counted(connection).introduce(begin))
    else:
        begin()


async def _introduce_async(connection: Any, check_health: bool = True) -> None:
    begin = partial(INTRODUCE_ASYNC, connection, check_health)
    await (counted(connection).introduce(begin) if _is_of_the_lock(connection) else begin())


def _is_of_the_lock(connection: Any) -> bool:
    """Return whether a connection leads to one of SERVERS, or to a server that a sentinel names."""
    address = (_host(getattr(connection, "host", "")), getattr(connection, "port", 0))
    return address in SERVERS or isinstance(connection, SentinelManagedConnection)


def uncounted(connection: Any) -> None:
    """Begin a connection of the counter: a hook of redis-py for new connections."""
    if Steps.address is None:
        connection.on_connect()
    else:
        at_once(counted(connection).introduce(connection.on_connect, counts=False))


def _host(name: str) -> str:
    return "127.0.0.1" if name == "localhost" else name


@cache
def _counted(kind: type[Any]) -> type[Seam]:
    seam = CountedAsync if issubclass(kind, AsyncConnection) else Counted
    return type(f"Counted{kind.__name__}", (seam, kind), {})
