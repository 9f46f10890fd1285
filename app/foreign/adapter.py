"""Any class or function that gives a lock with ``acquire`` and ``release``, as a stage uses it.

What a lock is made with is found by the names of its parameters: a client, a key, a time to live, how long to wait, how often to
ask. ``lab test`` prints what it found. A parameter that nobody knows needs a function of the user's own: ``make(client, key)``.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import redis
import redis.asyncio

from app.foreign.process_loop import ProcessLoop
from app.foreign.shapes import MANY, Block, Decorator, Unknown, called, finished, in_methods, is_async, methods, parameters_of
from app.lock import Grant, NotAcquired, NotOwner
from app.shelf.plugins import suggestion

CLIENT, CLIENTS, KEY, TTL, WAIT, RETRY, HOST, PORT, URL = (
    "client",
    "clients",
    "key",
    "ttl",
    "wait",
    "retry",
    "host",
    "port",
    "url",
)
NAMES = {
    CLIENT: "client redis redis_client conn connection redis_conn redis_connection store server rdb",
    CLIENTS: "clients nodes servers masters redis_clients redis_nodes connections",
    KEY: "key name resource lock_name lock_key lock_id key_name",
    TTL: "ttl expire expiry expires expiration lease lease_time lock_timeout ttl_ms expire_ms expiry_ms lease_ms px lock_ttl "
    "ttl_s ttl_seconds lease_s lease_seconds lease_duration expires_in expire_seconds hold_time",
    WAIT: "wait wait_ms blocking_timeout acquire_timeout wait_timeout max_wait",
    RETRY: "retry retry_ms sleep sleep_interval retry_interval retry_delay poll_interval retry_interval_ms retry_delay_ms",
    HOST: "host",
    PORT: "port",
    URL: "url redis_url dsn",
}
MEANING = {name: what for what, names in NAMES.items() for name in names.split()}
TIMES = (TTL, WAIT, RETRY)
EITHER = ("timeout", "timeout_ms")  # a time to live, or how long to wait
IN_MS = ("_ms", "px")
LONG_PAUSE = 10  # nobody sleeps that many seconds between two tries: a pause with such a default is in milliseconds
REFUSALS = ("notacquired", "timeout", "locked", "unavailable", "cannotacquire", "lockerror", "acquire")
LOSSES = ("notowned", "notacquired", "notowner", "notlocked", "notheld", "expired", "lost", "lockerror", "release", "unlock")


def meant(function: Callable[..., Any], means: Mapping[str, str], given: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return what each parameter of a function means. given: the meanings that somebody else has. Raises Unknown.

    means: by parameter, another name that says better what it is. ``timeout`` is a time to live, unless another parameter is
    one: then it is how long to wait. So is ``timeout_ms``.
    """
    found: dict[str, str] = {}
    parameters = [one for one in parameters_of(function).values() if one.name not in ("self", "cls")]
    known = {one.name: means.get(one.name, one.name) for one in parameters}
    for one in parameters:
        what = MEANING.get(known[one.name])
        if known[one.name] in EITHER:
            what = WAIT if TTL in given or any(MEANING.get(name) is TTL for name in known.values()) else TTL
        if what in TIMES and not _can_be_a_time(one.default):
            continue
        if what is not None and what not in found.values() and what not in given:
            found[one.name] = what
        elif one.default is one.empty and one.kind not in MANY:
            raise Unknown(f"the parameter {one.name!r} has no default. {suggestion(one.name, list(MEANING))}")
    return found


def _can_be_a_time(default: object) -> bool:
    """Return whether a parameter with such a default may be a time: a flag is none, nor is an object that says how to retry."""
    return default in (inspect.Parameter.empty, None) or type(default) in (int, float, str, timedelta)


class AdaptedLock:
    """One request's lock, made by somebody else's class or function."""

    make: Callable[..., Any]
    # what each parameter of it means
    about: Mapping[str, str]
    # what the lock makes of the key that it is given
    form: str
    # whether a grant is answered with something true: then None, 0 and an empty text are refusals
    says_yes: bool
    # by parameter, another name that says better what it is: ``{"timeout": "wait_ms"}``
    means: Mapping[str, str]
    # whether its client answers with texts, and not with bytes
    wants_text: bool
    client: Any = None  # of this request
    # what the last acquire answered, and whether it did: it may have raised an error
    answer: Any = None
    has_answered = False
    # the event loop of all requests of the process; None where each request runs one of its own
    loop: ProcessLoop | None
    has_own_loop = False

    def __init__(self, store: Any, key: str, ttl_ms: int, wait_ms: int, retry_ms: int) -> None:
        self.store, self.key, self.wait_ms = store, key, wait_ms
        self.times = {TTL: ttl_ms, WAIT: wait_ms, RETRY: retry_ms}
        self.taken_for: dict[str, str] = {}  # what its parameters, and those of acquire, were taken for

    def run(self, work: Callable[[Grant], Any]) -> Any:
        """Acquire, work, release, as a block of ``with`` would. Raises NotAcquired, NotOwner.

        A lock that does not wait is asked again after each pause, until the time to wait is over.
        """
        if is_async(self.make):
            return self._in_loop(self._run_async(work))
        self.client = _client(self.store, self.wants_text)
        if isinstance(lock := self._shaped(), Decorator):
            return self._run_decorated(lock, work)
        acquire, release = methods(lock)
        if inspect.iscoroutinefunction(acquire):  # a function made it, and did not say which class
            return self._in_loop(self._run_async(work))
        until_s = time.monotonic() + self.wait_ms / 1000
        while not self._is_granted(acquire):
            if inspect.iscoroutine(self.answer):  # a plain function made it
                self.answer.close()
                return self._in_loop(self._run_async(work))
            if is_block := isinstance(lock, Block):
                lock.leave_refused(self.has_answered)
            self._waits_on(until_s)
            time.sleep(self.times[RETRY] / 1000)
            if is_block:  # a block is entered once
                lock, acquire, release = self._made()
        try:
            return work(self._grant(lock))
        finally:
            with self._lost():
                if finished(called(release, self._needed(release))) is False:
                    raise NotOwner(self.key, "this request")

    def _run_decorated(self, lock: Decorator, work: Callable[[Grant], Any]) -> Any:
        """Let a decorator run the work. It says no by an error, or by not running it."""
        answers: list[Any] = []
        failures: list[BaseException] = []

        def run_work() -> Any:
            self.has_answered = True
            try:
                answers.append(work(self._grant(lock.lock)))
            except BaseException as error:
                failures.append(error)
                raise
            return answers[-1]

        until_s = time.monotonic() + self.wait_ms / 1000
        while True:
            self.has_answered = False
            try:
                if lock.run(run_work):
                    break
            except Exception as error:
                if self.has_answered and error not in failures:
                    with self._lost():
                        raise
                if self.has_answered or not _is_one_of(error, REFUSALS):
                    raise
            self._waits_on(until_s)
            time.sleep(self.times[RETRY] / 1000)
        if failures:  # the decorator has kept it to itself
            raise failures[-1]
        return answers[-1]

    def _in_loop(self, request: Coroutine[Any, Any, Any]) -> Any:
        self.has_own_loop = self.loop is None
        return self.loop.run(request) if self.loop else asyncio.run(request)

    async def _run_async(self, work: Callable[[Grant], Any]) -> Any:
        async with redis.asyncio.Redis(**_address(self.store), decode_responses=self.wants_text) as self.client:
            lock, acquire, release = self._made()
            until_s = time.monotonic() + self.wait_ms / 1000
            while not await self._is_granted_async(acquire):
                if is_block := isinstance(lock, Block):
                    await lock.leave_refused_async(self.has_answered)
                self._waits_on(until_s)
                await asyncio.sleep(self.times[RETRY] / 1000)
                if is_block:
                    lock, acquire, release = self._made()
            try:
                return await asyncio.to_thread(work, self._grant(lock))
            finally:
                with self._lost():
                    if finished(await _awaited(called(release, self._needed(release)))) is False:
                        raise NotOwner(self.key, "this request")

    def _made(self) -> tuple[Any, Callable[..., Any], Callable[..., Any]]:
        """Return a new lock, and how it is acquired and released."""
        lock = self._shaped()
        return lock, *methods(lock)

    def _shaped(self) -> Any:
        """Return a new lock: one that has methods, or a decorator."""
        return in_methods(called(self.make, self._words(self.about, self.make)))

    def _is_granted(self, acquire: Callable[..., Any]) -> bool:
        """Ask once, and return whether the answer is a grant."""
        with self._asked():
            self.answer = called(acquire, self._others(acquire))
            self.has_answered = True
        return self._is_yes()

    async def _is_granted_async(self, acquire: Callable[..., Any]) -> bool:
        with self._asked():
            self.answer = await _awaited(called(acquire, self._others(acquire)))
            self.has_answered = True
        return self._is_yes()

    @contextlib.contextmanager
    def _asked(self) -> Iterator[None]:
        """Take an error with such a name for a refusal."""
        self.has_answered = False
        try:
            yield
        except Exception as error:
            if not _is_one_of(error, REFUSALS):
                raise

    def _is_yes(self) -> bool:
        """Return whether the answer is a grant; a coroutine is none, before it has run. Raises Unknown."""
        if inspect.iscoroutine(self.answer):
            return False
        finished(self.answer)
        return self.has_answered and (bool(self.answer) if self.says_yes else self.answer is not False)

    def _waits_on(self, until_s: float) -> None:
        """Let a request go on waiting for a lock that does not wait by itself. Raises NotAcquired."""
        if WAIT in self.taken_for.values() or time.monotonic() >= until_s:
            raise NotAcquired(self.key, self.wait_ms)

    def _needed(self, release: Callable[..., Any]) -> dict[str, Any]:
        """Return what a release needs: nothing, the client, the key, or what the acquire has answered, such as a token."""
        needed = [
            one.name
            for one in inspect.signature(release).parameters.values()
            if one.default is one.empty and one.kind not in MANY
        ]
        return {name: self._known.get(MEANING.get(name, ""), self.answer) for name in needed}

    @property
    def _known(self) -> dict[str, Any]:
        return {CLIENT: self.client, CLIENTS: self.client, KEY: self.key}

    def _words(self, about: Mapping[str, str], function: Callable[..., Any]) -> dict[str, Any]:
        """Return the arguments of a call."""
        self.taken_for |= about
        values = self._known
        if {HOST, PORT, URL} & set(about.values()):
            values |= (where := _address(self.store))
            values[URL] = f"redis://{where['host']}:{where['port']}"
        return {name: self._time(name, what, function) if what in TIMES else values[what] for name, what in about.items()}

    def _others(self, acquire: Callable[..., Any]) -> dict[str, Any]:
        """Return the arguments of ``acquire``: what the lock was not made with."""
        return self._words(meant(acquire, self.means, frozenset(self.about.values())), acquire)

    def _time(self, name: str, what: str, function: Callable[..., Any]) -> float | timedelta:
        """Return a time in the unit of a parameter: milliseconds if its name says so, else seconds; whole if its default is."""
        parameter = parameters_of(function)[name]
        ms, default = self.times[what], parameter.default
        if isinstance(default, timedelta) or "timedelta" in str(parameter.annotation):
            return timedelta(milliseconds=ms)
        is_long_pause = what is RETRY and isinstance(default, (int, float)) and default >= LONG_PAUSE
        if self.means.get(name, name).endswith(IN_MS) or is_long_pause:
            return ms
        is_whole = type(default) is int and ms >= 1000
        return -(-ms // 1000) if is_whole or ms % 1000 == 0 else ms / 1000  # EX and EXPIRE take no 3.0

    def _grant(self, lock: Any) -> Grant:
        fence = getattr(lock, "fence", 0)
        return Grant(self.form.format(key=self.key), fence=fence if type(fence) is int else 0)

    @contextlib.contextmanager
    def _lost(self) -> Iterator[None]:
        """Take an error with such a name for the answer that the lock was lost."""
        try:
            yield
        except NotOwner:
            raise
        except Exception as error:
            if _is_one_of(error, LOSSES):
                raise NotOwner(self.key, "this request") from error
            raise


def adapted(
    make: Callable[..., Any],
    key: str = "{key}",
    says_yes: bool = False,
    means: Mapping[str, str] = MappingProxyType({}),
    wants_text: bool = False,
    one_loop: bool = False,
) -> type[AdaptedLock]:
    """Return a class as a stage's ``lock``. key: what the lock makes of the key that it is given. Raises Unknown.

    make: a class or a function that returns an object with ``acquire`` and ``release``, or one for a ``with`` block. Methods that
    are coroutines run in an event loop of the request, with a client of redis.asyncio. says_yes: ``acquire`` answers a grant with
    something true, such as a token, and a refusal with None or 0; without it, only False is a refusal. means: by the name of a
    parameter, another name, of those in ``NAMES``, that says what it is: ``{"hold": "ttl_ms"}``. wants_text: its client answers
    with texts, as one made with ``decode_responses=True``. one_loop: all requests of a process share one event loop, as a lock
    needs that keeps something of asyncio, such as a client or an ``asyncio.Lock``, for later requests.
    """
    about: dict[str, Any] = {"make": staticmethod(make), "about": meant(make, means), "form": key, "means": means}
    about |= {"says_yes": says_yes, "wants_text": wants_text, "loop": ProcessLoop() if one_loop else None}
    return type("Lock", (AdaptedLock,), about)


def retried(attempt: Callable[[], Any], wait_s: float, retry_s: float) -> bool:
    """Try until an attempt succeeds, for a lock that does not wait by itself. Return whether one did within this time."""
    until_s = time.monotonic() + wait_s
    while not attempt():
        if time.monotonic() > until_s:
            return False
        time.sleep(retry_s)
    return True


def _client(store: Any, wants_text: bool) -> Any:
    """Return a client as redis-py makes it by default, whose answers are bytes, or one whose answers are texts."""
    return store.plain(decode_responses=wants_text) if hasattr(store, "plain") else store


async def _awaited(answer: Any) -> Any:
    """Return what a call of a lock for asyncio has answered: some of its methods may be plain."""
    return await answer if inspect.isawaitable(answer) else answer


def _address(store: Any) -> dict[str, Any]:
    where = store.get_connection_kwargs()
    return {"host": where["host"], "port": where["port"]}


def _is_one_of(error: BaseException, words: tuple[str, ...]) -> bool:
    """Return whether the name of an error, or of one that it is a kind of, has one of these words."""
    if isinstance(error, (redis.ConnectionError, redis.TimeoutError)):
        return False  # the store did not answer
    names = [kind.__name__.lower() for kind in type(error).__mro__]
    return any(word in name for name in names for word in words)
