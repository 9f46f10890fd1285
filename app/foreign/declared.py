"""A lock of any shape as a stage: one function that acquires it, calls ``at.work()`` if it is granted, and releases it.

    def use(at):
        lock = MyLock(at.client, at.key, ttl=at.ttl_s)
        if lock.acquire():
            try:
                at.work()
            finally:
                lock.release()

The function is the declaration: nothing is inferred from names, units or answers. ``lab test module:Name`` writes its file.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NoReturn

import redis.asyncio
from redis.connection import Connection

from app.lock import Grant, NotAcquired, NotOwner, Work

MOST_WORKS = 256  # of one event loop at the same time: a lock that lets all requests in is to be seen
# where connections of redis-py lead, by the address in the lock's code or of the lab's server: always to the lab's database
LED: dict[tuple[str, int], dict[str, Any]] = {}
PLACE = ("host", "port", "user", "password", "database")
Named = str | Callable[[str], str]


class At:
    """What one request gives to its lock: the client, the key, the times, and the work.

    ``host``, ``port``, ``user``, ``password`` and ``database`` are for a lock that makes its client: of the first server.
    """

    def __init__(self, lock: DeclaredLock, work: Work[Any], client: Any = None) -> None:
        self.lock, self.key, self.ttl_ms, self.retry_ms = lock, lock.key, lock.ttl_ms, lock.retry_ms
        self.ttl_s, self.retry_s = _seconds(lock.ttl_ms), _seconds(lock.retry_ms)
        self.has_worked = self.waits = False
        self.failure: BaseException | None = None
        self.answer: Any = None
        self._work, self._client = work, client

    def __getattr__(self, name: str) -> Any:
        if name not in PLACE:
            raise AttributeError(name)
        return _address(self.lock.store).get(name, "")

    @property
    def client(self) -> Any:
        """A client of the store as its library makes it; in a coroutine of redis.asyncio; of several servers a list."""
        store = self.lock.store
        options: dict[str, Any] = (
            {"decode_responses": False} if hasattr(store, "connection_pool") or hasattr(store, "nodes") else {}
        )
        options |= {"timeout_ms": self.ttl_ms} if "timeout_ms" in inspect.signature(store.plain).parameters else {}
        return store.plain(**options) if self._client is None else self._client

    @property
    def text_client(self) -> Any:
        """A client of Redis that answers with texts, as ``decode_responses=True`` does."""
        return self.lock.store.plain(decode_responses=True)

    @cached_property
    def token(self) -> str:
        """A name of this holder, another one for each try."""
        return uuid.uuid4().hex

    @property
    def wait_ms(self) -> int:
        """How long the request waits. A lock that is given this waits by itself: it is not asked again after a refusal."""
        self.waits = True
        return self.lock.wait_ms

    @property
    def wait_s(self) -> float:
        """``wait_ms`` in seconds."""
        return _seconds(self.wait_ms)

    def work(self, fence: int = 0) -> Any:
        """Do the work of the request. Call it only while the lock is held. fence: a number that grows from grant to grant."""
        self.has_worked, self.failure = True, None
        try:
            self.answer = self._work(Grant(self.lock.form(self.key), fence=fence))
        except BaseException as error:
            self.failure = error
            raise
        return self.answer

    def lost(self) -> NoReturn:
        """Say that a release found the lock lost. Raises NotOwner."""
        raise NotOwner(self.key, "this request")

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Take the errors that are answers: before the work a refusal, after it the answer that the lock was lost."""
        try:
            yield
        except self.lock.errors as error:
            if error is self.failure:
                raise
            if self.has_worked:
                raise NotOwner(self.key, "this request") from error

    def is_over(self, until_s: float) -> bool:
        """Return whether the work is done. Raises its error if the lock has kept that to itself, and NotAcquired."""
        if self.failure is not None:
            raise self.failure
        if not self.has_worked and (self.waits or time.monotonic() >= until_s):
            raise NotAcquired(self.key, self.lock.wait_ms)
        return self.has_worked


class AsyncAt(At):
    """The same for a coroutine."""

    async def work(self, fence: int = 0) -> Any:
        """Do the work of the request in a thread, and let the event loop go on meanwhile."""
        return await asyncio.to_thread(super().work, fence)


class DeclaredLock:
    """One request's lock."""

    use: Callable[[Any], Any]
    form: Callable[[str], str]
    errors: tuple[type[Exception], ...]
    leads_from: str
    loop: _Loop

    def __init__(self, store: Any, key: str, ttl_ms: int, wait_ms: int, retry_ms: int) -> None:
        self.store, self.key, self.ttl_ms, self.wait_ms, self.retry_ms = store, key, ttl_ms, wait_ms, retry_ms
        if hasattr(store, "get_connection_kwargs"):
            host, _, port = self.leads_from.rpartition(":")
            here = place(store)
            LED.update({(host, int(port or 0)): here, (here["host"], here["port"]): here})

    def run(self, work: Work[Any]) -> Any:
        """Use the lock until it has done the work. Raises NotAcquired when the time to wait is over, NotOwner if it was lost."""
        until_s = time.monotonic() + self.wait_ms / 1000
        if inspect.iscoroutinefunction(self.use):
            return self.loop.run(self._run_async(work, until_s))
        while True:
            at = At(self, work)
            with at.answering():
                self.use(at)
            if at.is_over(until_s):
                return at.answer
            time.sleep(at.retry_s)

    async def _run_async(self, work: Work[Any], until_s: float) -> Any:
        async with redis.asyncio.Redis(**_address(self.store), retry=None) as client:  # it sends nothing again by itself
            while True:
                at = AsyncAt(self, work, client)
                with at.answering():
                    await self.use(at)
                if at.is_over(until_s):
                    return at.answer
                await asyncio.sleep(at.retry_s)


def declared(
    use: Callable[[Any], Any], *, key: Named = "{key}", errors: tuple[type[Exception], ...] = (), leads_from: str = ""
) -> type[DeclaredLock]:
    """Return a class as a stage's ``lock``.

    use: acquires the lock, calls ``at.work()`` if it was granted, and releases it; a coroutine function awaits ``at.work()``. One
    that does not call it was refused. key: what the lock makes of its key. errors: an error of these before the work means that
    the lock was not granted, and after it that the lock was lost. leads_from: as "localhost:6379", an address in the lock's own
    code, whose connections then lead to the lab's Redis.
    """
    form = (lambda name: key.format(key=name)) if isinstance(key, str) else key
    about = {"use": staticmethod(use), "form": staticmethod(form), "errors": errors, "leads_from": leads_from, "loop": _Loop()}
    return type("Lock", (DeclaredLock,), about)


class _Loop:
    """One event loop for all requests of a process, as a service with asyncio has it. It begins with the first request."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, request: Coroutine[Any, Any, Any]) -> Any:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(ThreadPoolExecutor(MOST_WORKS))
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
        return asyncio.run_coroutine_threadsafe(request, self._loop).result()


def _led(connect: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return redis-py's way to connect, which leads to another address if that is in ``LED``."""

    def connected(connection: Any) -> Any:
        for name, value in LED.get((connection.host, connection.port), {}).items():
            setattr(connection, name, value)
        return connect(connection)

    return connected


for kind in (Connection, redis.asyncio.Connection):  # redis-py has no hook for this
    kind._connect = _led(kind._connect)  # noqa: SLF001


def place(store: redis.Redis) -> dict[str, Any]:
    """Return where a store of Redis is, as its connections have it."""
    found = {"db": 0} | store.get_connection_kwargs()
    return {name: found.get(name) for name in ("host", "port", "db", "username", "password", "credential_provider")}


def _address(store: Any) -> dict[str, Any]:
    if hasattr(store, "endpoint"):
        here = store.endpoint
        account = {"user": getattr(store, "user", here.user), "password": here.password, "database": here.database}
        return {"host": here.first.host, "port": here.first.port} | account
    return place(store.nodes[0] if hasattr(store, "nodes") else store)


def _seconds(ms: int) -> float:
    return ms // 1000 if ms % 1000 == 0 else ms / 1000  # EX and EXPIRE take no 3.0
