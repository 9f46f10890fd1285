"""Any class or function that gives a lock with ``acquire`` and ``release``, as a stage uses it.

What a lock is made with is found by the names of its parameters: a client, a key, a time to live, how long to wait, how often to
ask. ``lab test`` prints what it found. A parameter that nobody knows needs a function of the user's own: ``make(client, key)``.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, get_type_hints

import redis
import redis.asyncio

from app.lock import Grant, NotAcquired, NotOwner
from app.suggestion import suggestion

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
    WAIT: "wait wait_ms blocking_timeout acquire_timeout wait_timeout max_wait timeout_ms",
    RETRY: "retry retry_ms sleep sleep_interval retry_interval retry_delay poll_interval retry_interval_ms retry_delay_ms",
    HOST: "host",
    PORT: "port",
    URL: "url redis_url dsn",
}
MEANING = {name: what for what, names in NAMES.items() for name in names.split()}
TIMES = (TTL, WAIT, RETRY)
IN_MS = ("_ms", "px")
LONG_PAUSE = 10  # nobody sleeps that many seconds between two tries: a pause with such a default is in milliseconds
REFUSALS = ("notacquired", "timeout", "locked", "unavailable", "cannotacquire", "lockerror", "acquire")
LOSSES = ("notowned", "notacquired", "notowner", "notlocked", "notheld", "expired", "lost", "lockerror", "release", "unlock")


class Unknown(TypeError):  # noqa: N818 - names what the parameter is
    """A lock cannot be made: a parameter without a default has a name that nobody knows, or the lock has no methods."""


def meant(function: Callable[..., Any], means: Mapping[str, str], given: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return what each parameter of a function means. given: the meanings that somebody else has. Raises Unknown.

    means: by parameter, another name that says better what it is. ``timeout`` is a time to live, unless another parameter is
    one: then it is how long to wait.
    """
    found: dict[str, str] = {}
    parameters = [one for one in inspect.signature(function).parameters.values() if one.name not in ("self", "cls")]
    known = {one.name: means.get(one.name, one.name) for one in parameters}
    for one in parameters:
        what = MEANING.get(known[one.name])
        if known[one.name] == "timeout":
            what = WAIT if TTL in given or any(MEANING.get(name) is TTL for name in known.values()) else TTL
        if what is not None and what not in found.values() and what not in given:
            found[one.name] = what
        elif one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            raise Unknown(f"the parameter {one.name!r} has no default. {suggestion(one.name, list(MEANING))}")
    return found


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
    # what the acquire that was granted answered
    answer: Any = None

    def __init__(self, store: Any, key: str, ttl_ms: int, wait_ms: int, retry_ms: int) -> None:
        self.store, self.key, self.wait_ms = store, key, wait_ms
        self.times = {TTL: ttl_ms, WAIT: wait_ms, RETRY: retry_ms}
        self.taken_for: dict[str, str] = {}  # what its parameters, and those of acquire, were taken for

    def run(self, work: Callable[[Grant], Any]) -> Any:
        """Acquire, work, release, as a block of ``with`` would. Raises NotAcquired, NotOwner.

        A lock that does not wait is asked again after each pause, until the time to wait is over.
        """
        if is_async(self.make):
            return asyncio.run(self._run_async(work))
        lock, acquire, release = self._made(_client(self.store))
        if inspect.iscoroutinefunction(acquire):  # a function made it, and did not say which class
            return asyncio.run(self._run_async(work))
        until_s = time.monotonic() + self.wait_ms / 1000
        while not self._is_granted(acquire):
            self._waits_on(until_s)
            time.sleep(self.times[RETRY] / 1000)
            if not hasattr(lock, "acquire"):  # a block is entered once
                lock, acquire, release = self._made(_client(self.store))
        try:
            return work(self._grant(lock))
        finally:
            with self._lost():
                if release(*self._token(release)) is False:
                    raise NotOwner(self.key, "this request")

    async def _run_async(self, work: Callable[[Grant], Any]) -> Any:
        async with redis.asyncio.Redis(**_address(self.store)) as client:
            lock, acquire, release = self._made(client)
            until_s = time.monotonic() + self.wait_ms / 1000
            while not await self._is_granted_async(acquire):
                self._waits_on(until_s)
                await asyncio.sleep(self.times[RETRY] / 1000)
                if not hasattr(lock, "acquire"):
                    lock, acquire, release = self._made(client)
            try:
                return await asyncio.to_thread(work, self._grant(lock))
            finally:
                with self._lost():
                    if await release(*self._token(release)) is False:
                        raise NotOwner(self.key, "this request")

    def _made(self, client: Any) -> tuple[Any, Callable[..., Any], Callable[..., Any]]:
        """Return a new lock, and how it is acquired and released."""
        lock = self.make(**self._words(self.about, self.make, client))
        return lock, *methods(lock)

    def _is_granted(self, acquire: Callable[..., Any]) -> bool:
        """Ask once, and return whether the answer is a grant."""
        try:
            self.answer = acquire(**self._others(acquire))
        except Exception as error:
            if _is_one_of(error, REFUSALS):
                return False
            raise
        return self._is_yes()

    async def _is_granted_async(self, acquire: Callable[..., Any]) -> bool:
        try:
            self.answer = await acquire(**self._others(acquire))
        except Exception as error:
            if _is_one_of(error, REFUSALS):
                return False
            raise
        return self._is_yes()

    def _is_yes(self) -> bool:
        return bool(self.answer) if self.says_yes else self.answer is not False

    def _waits_on(self, until_s: float) -> None:
        """Let a request go on waiting for a lock that does not wait by itself. Raises NotAcquired."""
        if WAIT in self.taken_for.values() or time.monotonic() >= until_s:
            raise NotAcquired(self.key, self.wait_ms)

    def _token(self, release: Callable[..., Any]) -> tuple[Any, ...]:
        """Return what a release needs: nothing, the key, or what the acquire has answered, such as a token."""
        parameters = inspect.signature(release).parameters.values()
        needed = [one for one in parameters if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
        return tuple(self.key if MEANING.get(one.name) is KEY else self.answer for one in needed)

    def _words(self, about: Mapping[str, str], function: Callable[..., Any], client: Any) -> dict[str, Any]:
        """Return the arguments of a call."""
        self.taken_for |= about
        values = {CLIENT: client, CLIENTS: client, KEY: self.key}
        if {HOST, PORT, URL} & set(about.values()):
            values |= (where := _address(self.store))
            values[URL] = f"redis://{where['host']}:{where['port']}"
        return {name: self._time(name, what, function) if what in TIMES else values[what] for name, what in about.items()}

    def _others(self, acquire: Callable[..., Any]) -> dict[str, Any]:
        """Return the arguments of ``acquire``: what the lock was not made with."""
        return self._words(meant(acquire, self.means, frozenset(self.about.values())), acquire, None)

    def _time(self, name: str, what: str, function: Callable[..., Any]) -> float:
        """Return a time in the unit of a parameter: milliseconds if its name says so, else seconds; whole if its default is."""
        ms, default = self.times[what], inspect.signature(function).parameters[name].default
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
    make: Callable[..., Any], key: str = "{key}", says_yes: bool = False, means: Mapping[str, str] = MappingProxyType({})
) -> type[AdaptedLock]:
    """Return a class as a stage's ``lock``. key: what the lock makes of the key that it is given. Raises Unknown.

    make: a class or a function that returns an object with ``acquire`` and ``release``, or one for a ``with`` block. Methods that
    are coroutines run in an event loop of the request, with a client of redis.asyncio. says_yes: ``acquire`` answers a grant with
    something true, such as a token, and a refusal with None or 0; without it, only False is a refusal. means: by the name of a
    parameter, another name, of those in ``NAMES``, that says what it is: ``{"hold": "ttl_ms"}``.
    """
    about = {"make": staticmethod(make), "about": meant(make, means), "form": key, "says_yes": says_yes, "means": means}
    return type("Lock", (AdaptedLock,), about)


def retried(attempt: Callable[[], Any], wait_s: float, retry_s: float) -> bool:
    """Try until an attempt succeeds, for a lock that does not wait by itself. Return whether one did within this time."""
    until_s = time.monotonic() + wait_s
    while not attempt():
        if time.monotonic() > until_s:
            return False
        time.sleep(retry_s)
    return True


def methods(lock: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return how a lock is acquired and released. Raises Unknown."""
    for acquire, release in (("acquire", "release"), ("lock", "unlock")):
        if callable(getattr(lock, acquire, None)) and callable(getattr(lock, release, None)):
            return getattr(lock, acquire), getattr(lock, release)
    if hasattr(lock, "__enter__"):
        return lambda: _entered(lock.__enter__()), partial(_left, lock)
    if hasattr(lock, "__aenter__"):
        return lock.__aenter__, partial(_left_async, lock)
    raise Unknown(f"{type(lock).__name__} has neither acquire and release, nor lock and unlock, nor is it for a with block")


def _entered(what: object) -> bool:
    """Return whether a block is entered with the lock: what ``with`` gives is often the lock, or None."""
    return what is not False


def _left(lock: Any) -> None:
    """Leave a block, with the error of the work where it failed. What ``__exit__`` answers says nothing of the lock."""
    lock.__exit__(*sys.exc_info())


async def _left_async(lock: Any) -> None:
    await lock.__aexit__(*sys.exc_info())


def is_async(make: Callable[..., Any]) -> bool:
    """Return whether the methods of a lock are coroutines. make: its class, or a function whose annotation names the class."""
    kind = make if isinstance(make, type) else _returned(make)
    return any(inspect.iscoroutinefunction(getattr(kind, name, None)) for name in ("acquire", "lock", "__aenter__"))


def _returned(make: Callable[..., Any]) -> Any:
    """Return the class that a function says it returns; None where it says none."""
    try:
        return get_type_hints(make).get("return")
    except (NameError, TypeError, AttributeError):  # of a name that only a type checker knows
        return None


def _client(store: Any) -> Any:
    """Return a client as redis-py makes it by default: texts come back as bytes."""
    return store.plain(decode_responses=False) if hasattr(store, "plain") else store


def _address(store: Any) -> dict[str, Any]:
    where = store.get_connection_kwargs()
    return {"host": where["host"], "port": where["port"]}


def _is_one_of(error: BaseException, words: tuple[str, ...]) -> bool:
    """Return whether the name of an error, or of one that it is a kind of, has one of these words."""
    if isinstance(error, (redis.ConnectionError, redis.TimeoutError)):
        return False  # the store did not answer
    names = [kind.__name__.lower() for kind in type(error).__mro__]
    return any(word in name for name in names for word in words)
