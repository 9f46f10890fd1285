"""Time, threads and chance, as a replica under the explorer sees them.

Each class stands for a module of the standard library. What it does not have comes from the real module. A stage's code runs
unchanged, because an import inside the explorer gives it these (``copies.py``).
"""

from __future__ import annotations

import os
import random
import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

from lab.explore import replica
from lab.explore.operation import Choice, Nap, Until

GRID_MS = 100  # a moment is a multiple of this: fewer moments, fewer states
EPOCH_MS = 1_700_000_000_000
VALUES = 3  # how many values of a random choice are explored


def on_grid(duration_ms: float) -> int:
    """Return a duration in milliseconds, rounded up to the grid."""
    return int(-(-duration_ms // GRID_MS) * GRID_MS)


def _until(duration_s: float | None) -> int | None:
    return None if duration_s is None else replica.current().now_ms + on_grid(max(0, duration_s) * 1000)


class Time:
    """``time``: the clock of the search."""

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)

    def monotonic(self) -> float:
        return replica.current().now_ms / 1000

    def monotonic_ns(self) -> int:
        return replica.current().now_ms * 1_000_000

    perf_counter, perf_counter_ns = monotonic, monotonic_ns

    def time(self) -> float:
        return (EPOCH_MS + replica.current().now_ms) / 1000

    def time_ns(self) -> int:
        return (EPOCH_MS + replica.current().now_ms) * 1_000_000

    def sleep(self, duration_s: float) -> None:
        """Sleep. Between two tries a short sleep is a nap: what it waits for is a change in the store, not a moment."""
        here = replica.current()
        if duration_s <= 0:
            return
        if not here.inside and duration_s * 1000 < GRID_MS:
            here.wait(Nap())
        else:
            here.wait(Until(_until(duration_s)))


class Event:
    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        self._is_set = True

    def clear(self) -> None:
        self._is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def wait(self, timeout: float | None = None) -> bool:
        replica.current().wait_for(lambda: self._is_set, _until(timeout))
        return self._is_set


class Lock:
    """A mutex. ``reentrant``: its holder may acquire it again."""

    reentrant = False

    def __init__(self) -> None:
        self._holder: Any = None
        self._count = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        here = replica.current()
        if blocking:
            here.wait_for(self._is_free, None if timeout < 0 else _until(timeout))
        if not self._is_free():
            return False
        self._holder, self._count = here.thread, self._count + 1
        return True

    def _is_free(self) -> bool:
        return self._holder is None or (self.reentrant and self._holder is replica.current().thread)

    def release(self) -> None:
        self._count -= 1
        if not self._count:
            self._holder = None

    def locked(self) -> bool:
        return self._holder is not None

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class RLock(Lock):
    reentrant = True


class Condition:
    def __init__(self, lock: Lock | None = None) -> None:
        self._lock = lock or RLock()
        self._waiting: list[Event] = []
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self) -> bool:
        return self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        mine = Event()
        self._waiting.append(mine)
        self._lock.release()
        try:
            return mine.wait(timeout)
        finally:
            self._lock.acquire()
            if mine in self._waiting:
                self._waiting.remove(mine)

    def wait_for(self, predicate: Callable[[], bool], timeout: float | None = None) -> bool:
        until = _until(timeout)
        while not predicate() and (until is None or replica.current().now_ms < until):
            self.wait(None if until is None else (until - replica.current().now_ms) / 1000)
        return predicate()

    def notify(self, n: int = 1) -> None:
        for one in self._waiting[:n]:
            one.set()
        del self._waiting[:n]

    def notify_all(self) -> None:
        self.notify(len(self._waiting))


class Semaphore:
    def __init__(self, value: int = 1) -> None:
        self._left = value

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        if blocking:
            replica.current().wait_for(lambda: self._left > 0, _until(timeout))
        if self._left <= 0:
            return False
        self._left -= 1
        return True

    def release(self, n: int = 1) -> None:
        self._left += n

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Thread:
    def __init__(
        self, group: None = None, target: Any = None, name: Any = None, args: Any = (), kwargs: Any = None, *, daemon: Any = None
    ) -> None:
        self.target, self.args, self.kwargs = target, args, kwargs or {}
        self.name, self.daemon = name or "thread", daemon
        self._over = Event()

    def run(self) -> None:
        if self.target is not None:
            self.target(*self.args, **self.kwargs)

    def start(self) -> None:
        replica.current().start(self._go)

    def _go(self) -> None:
        try:
            self.run()
        except Exception:  # noqa: BLE001, S110 - as in Python: the thread ends, and its process lives on
            pass
        finally:
            self._over.set()

    def join(self, timeout: float | None = None) -> None:
        self._over.wait(timeout)

    def is_alive(self) -> bool:
        return not self._over.is_set()


class Timer(Thread):
    def __init__(self, interval: float, function: Any, args: Any = (), kwargs: Any = None) -> None:
        super().__init__(target=function, args=args, kwargs=kwargs)
        self.interval_s, self.finished = interval, Event()

    def run(self) -> None:
        if not self.finished.wait(self.interval_s):
            super().run()

    def cancel(self) -> None:
        self.finished.set()


class Local:
    """``threading.local``: each thread of each replica has its own attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return replica.current().thread.local[id(self), name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        replica.current().thread.local[id(self), name] = value


class Threading:
    """``threading``: the threads of a replica are greenlets, which change at operations only."""

    Event, Lock, RLock, Condition, Semaphore = Event, Lock, RLock, Condition, Semaphore
    BoundedSemaphore, Thread, Timer, local = Semaphore, Thread, Timer, Local

    def __getattr__(self, name: str) -> Any:
        return getattr(threading, name)

    def get_ident(self) -> int:
        number: int = replica.current().thread.number
        return number + 1

    get_native_id = get_ident


class Random:
    """``random``: numbers that only spread waits are their mean; numbers that choose are explored."""

    def __getattr__(self, name: str) -> Any:
        return getattr(random, name)

    def random(self) -> float:
        return 0.5

    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2

    def randrange(self, start: int, stop: int | None = None, step: int = 1) -> int:
        values = range(start) if stop is None else range(start, stop, step)
        return int(replica.current().wait(Choice(tuple(values[:VALUES]))))

    def randint(self, a: int, b: int) -> int:
        return self.randrange(a, b + 1)

    def choice(self, options: Any) -> Any:
        return options[self.randrange(len(options))]

    def getrandbits(self, bits: int) -> int:
        return replica.current().fresh() & ((1 << bits) - 1)


class Uuid:
    """``uuid``: new for each call, and the same in each repetition."""

    def __getattr__(self, name: str) -> Any:
        return getattr(uuid, name)

    def uuid4(self) -> uuid.UUID:
        return uuid.UUID(int=replica.current().fresh())

    uuid1 = uuid4


class Os:
    """``os``: each replica is a process."""

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def getpid(self) -> int:
        return replica.current().pid

    def urandom(self, size: int) -> bytes:
        return replica.current().fresh().to_bytes(16, "big").rjust(size, b"\0")[-size:]


class Secrets:
    """``secrets``: new for each call, and the same in each repetition."""

    def token_bytes(self, size: int = 16) -> bytes:
        return MODULES["os"].urandom(size)  # type: ignore[no-any-return]

    def token_hex(self, size: int = 16) -> str:
        return self.token_bytes(size).hex()

    token_urlsafe = token_hex


MODULES: dict[str, Any] = {
    "time": Time(),
    "threading": Threading(),
    "random": Random(),
    "uuid": Uuid(),
    "os": Os(),
    "secrets": Secrets(),
}
