"""Make a stage of a lock of any shape, by one function that acquires it, calls ``at.work()`` if it is granted, and releases it.

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

MOST_WORKS = 256  # threads for the works of one event loop: if a lock lets all requests in, all of them work at once
# by an address in a lock's code, or of the lab's server: the attributes of redis-py's connections that lead to the lab's database
LED: dict[tuple[str, int], dict[str, Any]] = {}
PLACE = ("host", "port", "user", "password", "database")
Named = str | Callable[[str], str]


class At:
    """The argument of a lock's function, for one request: the client, the key, the times, and the work.

    ``host``, ``port``, ``user``, ``password`` and ``database`` of the first server are for a lock that makes its own client.
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
        """Return a client of the store with its library's defaults; in a coroutine, of redis.asyncio; several servers: a list."""
        store = self.lock.store
        is_redis = hasattr(store, "connection_pool") or hasattr(store, "nodes")
        options: dict[str, Any] = {"decode_responses": False} if is_redis else {}
        known = inspect.signature(store.plain).parameters
        options |= {name: value for name, value in (("timeout_ms", self.ttl_ms), ("autocommit", False)) if name in known}
        return store.plain(**options) if self._client is None else self._client

    @property
    def text_client(self) -> Any:
        """Return a client of Redis that returns texts, as with ``decode_responses=True``."""
        return self.lock.store.plain(decode_responses=True)

    @cached_property
    def token(self) -> str:
        """Return a unique name of this holder; each try has a new one."""
        return uuid.uuid4().hex

    @property
    def wait_ms(self) -> int:
        """Return how long the request waits. A lock that reads this waits by itself: after a refusal it is not called again."""
        self.waits = True
        return self.lock.wait_ms

    @property
    def wait_s(self) -> float:
        """Return ``wait_ms`` in seconds."""
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
        """Report that a release found the lock lost. Raises NotOwner."""
        raise NotOwner(self.key, "this request")

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Treat the lock's errors as answers: before the work as a refusal, after it as NotOwner."""
        try:
            yield
        except self.lock.errors as error:
            if error is self.failure:
                raise
            if self.has_worked:
                raise NotOwner(self.key, "this request") from error

    def is_over(self, until_s: float) -> bool:
        """Return whether the work is done. Raises the error of the work even if the lock has caught it, and NotAcquired."""
        if self.failure is not None:
            raise self.failure
        if not self.has_worked and (self.waits or time.monotonic() >= until_s):
            raise NotAcquired(self.key, self.lock.wait_ms)
        return self.has_worked


class AsyncAt(At):
    """The argument of a lock's coroutine function."""

    async def work(self, fence: int = 0) -> Any:
        """Do the work of the request in a thread, so that the event loop goes on."""
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
            server = place(store)
            LED.update({(host, int(port or 0)): server, (server["host"], server["port"]): server})

    def run(self, work: Work[Any]) -> Any:
        """Call the lock's function until it has done the work. Raises NotAcquired after the wait, NotOwner for a lost lock."""
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

    use: acquires the lock, calls ``at.work()`` if it was granted, and releases it; a coroutine function awaits ``at.work()``. If
    it does not call it, the lock was refused. key: the lock's key at the store, made from its key in the lab. errors: such an
    error before the work means that the lock was not granted, after it that the lock was lost. leads_from: an address in the
    lock's own code, such as "localhost:6379"; connections to it lead to the lab's Redis.
    """
    form = (lambda name: key.format(key=name)) if isinstance(key, str) else key
    fields = {"use": staticmethod(use), "form": staticmethod(form), "errors": errors, "leads_from": leads_from, "loop": _Loop()}
    return type("Lock", (DeclaredLock,), fields)


class _Loop:
    """One event loop for all requests of a process, as in a service with asyncio. It starts with the first request."""

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
    """Wrap redis-py's method that connects: for an address in ``LED``, it connects to the lab's server."""

    def connected(connection: Any) -> Any:
        for name, value in LED.get((connection.host, connection.port), {}).items():
            setattr(connection, name, value)
        return connect(connection)

    return connected


for kind in (Connection, redis.asyncio.Connection):  # redis-py has no hook for this
    kind._connect = _led(kind._connect)  # noqa: SLF001


def place(store: redis.Redis) -> dict[str, Any]:
    """Return the address, account and database of a Redis store, by the names of redis-py's connections."""
    options = {"db": 0} | store.get_connection_kwargs()
    return {name: options.get(name) for name in ("host", "port", "db", "username", "password", "credential_provider")}


def _address(store: Any) -> dict[str, Any]:
    if hasattr(store, "endpoint"):
        endpoint = store.endpoint
        account = {"user": getattr(store, "user", endpoint.user), "password": endpoint.password, "database": endpoint.database}
        return {"host": endpoint.first.host, "port": endpoint.first.port} | account
    return place(store.nodes[0] if hasattr(store, "nodes") else store)


def _seconds(ms: int) -> float:
    return ms // 1000 if ms % 1000 == 0 else ms / 1000  # EX and EXPIRE take no 3.0
