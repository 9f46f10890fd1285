"""Count commands and inject faults in every client of kazoo that connects to the lock's servers.

Every command that kazoo sends for a caller goes through ``_call``, whichever recipe sends it: its own Lock, a transaction, a
command with or without ``_async``. Heartbeats and the beginning of a session do not. The answer comes in another thread, and the
caller takes it with ``get``. There the failpoints are reached, in the thread of the request. Commands that kazoo sends in its own
threads, for example to make the parents of a node, are not counted.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from contextvars import copy_context
from functools import partial
from time import monotonic_ns
from typing import Any, NamedTuple

from kazoo.client import KazooClient
from kazoo.exceptions import (
    BadVersionError,
    ConnectionClosedError,
    ConnectionDropped,
    ConnectionLoss,
    NodeExistsError,
    SessionExpiredError,
)
from kazoo.handlers.threading import AsyncResult, KazooTimeoutError, SequentialThreadingHandler
from kazoo.protocol.states import KazooState

from app.failpoints import RENEW
from app.failpoints.injection import ReplyLost
from app.journal import CONNECT
from app.request.answer import Meaning
from app.request.context import for_nobody, here
from app.settings import Address

EPHEMERAL = 1  # the flag of a node that ends with its session
LOOKS = ("exists", "getChildren", "getData", "getACL")
CHANGES = ("create", "delete", "setData", "transaction")
UNANSWERED = (ConnectionLoss, ConnectionClosedError, SessionExpiredError, KazooTimeoutError)
SERVERS: set[tuple[str, int]] = set()  # commands to these servers are counted, whichever client of this process sends them
MAKE = KazooClient.__init__


class SentCommand(NamedTuple):
    """One command that was sent."""

    command: str
    # the object that receives the answer
    result: Any
    # the request and the phase that it belongs to
    cause: tuple[str, str]


class _OfThread(threading.local):
    """The commands of this thread whose answers are not noted yet."""

    def __init__(self) -> None:
        self.sent: deque[SentCommand] = deque()


of_thread = _OfThread()


class CountedResult(AsyncResult):
    """An answer that may not have come yet."""

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Return the value or raise the exception. Before that, note all answers that this thread has received."""
        try:
            return super().get(block, timeout)
        finally:
            _note_answers(given_up=not self.ready())


class CountedClient(KazooClient):
    """A client that reaches the failpoints, counts commands, and journals the commands that are sent outside any request."""

    def begin(self) -> None:
        """Begin to count."""
        self.handler.async_result = partial(CountedResult, self.handler)
        self._journal_heartbeats()
        self.add_listener(self._journal_session)

    def start_async(self) -> Any:
        with for_nobody():  # the session is of the whole process
            return super().start_async()

    def _call(self, request: Any, async_object: Any) -> Any:
        if threading.current_thread() in self.handler._workers:  # noqa: SLF001 - kazoo's own threads, which call back
            return super()._call(request, async_object)
        command = _name(request)
        here().sending(command, error=ConnectionLoss)
        for operation in getattr(request, "operations", (request,)):
            if hasattr(operation, "flags"):  # it creates a node
                here().hangs_on(self._session_name() if operation.flags & EPHEMERAL else "")
        if here().phase is RENEW:
            self._journal_answer(command, getattr(request, "path", ""), async_object)
        else:
            of_thread.sent.append(SentCommand(command, async_object, (here().request, here().phase)))
        return super()._call(request, async_object)

    def _journal_answer(self, command: str, path: str, result: Any) -> None:
        sent_ns, run = monotonic_ns(), copy_context().run  # in the context of this thread: it knows which request began it
        result.rawlink(lambda result: run(here().renewed, command, _text(result), [path], sent_ns=sent_ns))

    def _journal_heartbeats(self) -> None:
        """Journal the session's heartbeats. kazoo reports them nowhere, so this uses a private method."""
        send = self._connection._send_ping  # noqa: SLF001 - see above

        def send_and_record(connect_timeout: float) -> None:
            here().sending("ping", error=ConnectionDropped)
            send(connect_timeout)
            here().renewed("ping", "sent", [self._session_name()], prolonged=True)

        self._connection._send_ping = send_and_record  # noqa: SLF001 - see above

    def _journal_session(self, state: str) -> None:
        """Journal the beginning of a session, and each new connection in it: a session renews no lock older than itself."""
        if state == KazooState.CONNECTED:
            here().renewed(CONNECT, "connected", [self._session_name()])

    def _session_name(self) -> str:
        known = self.client_id
        return f"session {known[0]:x}" if known else "session"


def count_all(addresses: Iterable[Address]) -> None:
    """Count, from now on, the commands that every kazoo client of this process sends to the lock's servers."""
    SERVERS.update((address.host, address.port) for address in addresses)
    KazooClient.__init__ = _make  # kazoo has no hook for it


def _make(client: Any, *args: Any, **options: Any) -> None:
    MAKE(client, *args, **options)
    if not SERVERS.isdisjoint(client.hosts) and type(client.handler) is SequentialThreadingHandler:
        client.__class__ = type("CountedClient", (CountedClient, type(client)), {})
        client.begin()


def _note_answers(given_up: bool) -> None:
    """Note the answers to this thread's commands in the current phase; drop the commands of earlier phases."""
    for _ in range(len(of_thread.sent)):
        sent = of_thread.sent.popleft()
        if sent.cause != (here().request, here().phase):
            continue
        if not sent.result.ready() and not given_up:
            of_thread.sent.append(sent)
            continue
        error = sent.result.exception if sent.result.ready() else KazooTimeoutError()
        try:
            if isinstance(error, UNANSWERED):
                here().answered(sent.command, error)
            else:
                here().answered(sent.command, _text(sent.result), _meaning(sent, error))
        except ReplyLost as lost:  # kazoo sends nothing twice: the caller learns that the outcome is unknown
            raise ConnectionLoss from lost


def _meaning(sent: SentCommand, error: Exception | None) -> Meaning:
    """Return the meaning of an answer for a lock."""
    if sent.command in LOOKS:
        return Meaning.LOOKED
    if sent.command not in CHANGES:
        return Meaning.NOTHING
    if error is not None:
        return Meaning.REFUSED if isinstance(error, (NodeExistsError, BadVersionError)) else Meaning.NOTHING
    failed = sent.command == "transaction" and any(isinstance(part, Exception) for part in sent.result.value)
    return Meaning.REFUSED if failed else Meaning.AGREED


def _text(result: Any) -> str:
    """Return an answer as text: an error by its name."""
    return str(result.value) if result.exception is None else type(result.exception).__name__


def _name(request: Any) -> str:
    """Return ZooKeeper's name of a command: ``getChildren`` for kazoo's GetChildren2."""
    name = type(request).__name__.rstrip("2")
    return name[0].lower() + name[1:]
