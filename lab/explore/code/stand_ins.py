"""Replace the functions of Python's library for time, threads, random numbers and processes, in replicas only.

The primitives are replaced once, for the whole process: ``time.sleep``, a lock, the start of a thread, ``os.urandom``. Outside of
replicas they work as before. Everything that the library builds on them (events, conditions, queues, timers, pools of threads,
``uuid``, ``secrets``) stays as it is. So stages and libraries run unchanged.
"""

from __future__ import annotations

import _thread
import _threading_local
import atexit
import contextlib
import datetime as dt
import logging
import os
import queue
import subprocess
import sys
import threading
import time
import uuid
import warnings
import weakref
from collections.abc import Callable
from types import CoroutineType, ModuleType
from typing import Any

from greenlet import GreenletExit

from lab.explore.code import draws
from lab.explore.code.replica import current, or_real, running
from lab.explore.model import EPOCH_MS

OWN = "lab.explore."  # in its modules nothing is replaced
NODE = b"\x02lab\x00\x01"  # the machine in a uuid1: all processes are on one machine
STOPWATCH_MS = 1 << 20  # the first value of perf_counter: some stopwatches take zero for "not started"
THREADS_FROM = 1 << 40  # the first number that ``threading.get_ident`` returns in a replica

_real = {name: getattr(time, name) for name in ("sleep", "monotonic", "time", "gmtime", "localtime", "ctime", "strftime")}


def now_s() -> float:
    """Return the time of day on the clock of the search."""
    return (EPOCH_MS + current().now_ms) / 1000


TIME: dict[str, Callable[..., Any]] = {
    "sleep": lambda duration_s: current().sleep(duration_s),
    "monotonic": lambda: current().now_ms / 1000,
    "monotonic_ns": lambda: current().now_ms * 1_000_000,
    "perf_counter": lambda: (STOPWATCH_MS + current().now_ms) / 1000,
    "perf_counter_ns": lambda: (STOPWATCH_MS + current().now_ms) * 1_000_000,
    "time": now_s,
    "time_ns": lambda: (EPOCH_MS + current().now_ms) * 1_000_000,
    "gmtime": lambda when=None: _real["gmtime"](now_s() if when is None else when),
    "localtime": lambda when=None: _real["localtime"](now_s() if when is None else when),
    "ctime": lambda when=None: _real["ctime"](now_s() if when is None else when),
    "strftime": lambda form, when=None: _real["strftime"](form, _real["localtime"](now_s()) if when is None else when),
}


class Datetime(dt.datetime):
    """``datetime.datetime`` on the clock of the search."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return cls.fromtimestamp(now_s() if running() else _real["time"](), tz)

    @classmethod
    def today(cls) -> Any:
        return cls.now()

    @classmethod
    def utcnow(cls) -> Any:
        return cls.now(dt.UTC).replace(tzinfo=None)


class Date(dt.date):
    """``datetime.date`` on the clock of the search."""

    @classmethod
    def today(cls) -> Any:
        return cls.fromtimestamp(now_s() if running() else _real["time"]())


def datetime_module() -> ModuleType:
    """Return a copy of ``datetime`` for the modules of a replica: methods of the real classes cannot be replaced."""
    module = ModuleType("datetime")
    module.__dict__.update(vars(dt), datetime=Datetime, date=Date)
    return module


_real_mutex = _thread.allocate_lock


class ReplicaMutex:
    """A mutex between the threads of a replica. Outside of replicas it is a mutex between threads of the interpreter."""

    def __init__(self) -> None:
        self._is_held = False
        self._outside = _real_mutex()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if running() is None:
            return self._outside.acquire(blocking, timeout)
        if self._is_held and blocking:
            current().wait_for(lambda: not self._is_held, None if timeout < 0 else timeout)
        if self._is_held:
            return False
        self._is_held = True
        return True

    def release(self) -> None:
        if running() is None and self._outside.locked():
            self._outside.release()
        elif self._is_held:
            self._is_held = False
        else:
            raise RuntimeError("release unlocked lock")

    def locked(self) -> bool:
        return self._is_held if running() else self._outside.locked()

    def _at_fork_reinit(self) -> None:
        self._is_held = False  # an object of ``threading`` may outlive its replica, until this process forks

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    acquire_lock, release_lock, locked_lock = acquire, release, locked


def _silence_ends() -> None:
    """Suppress reports of replicas that end in the middle of an operation: many do, at the end of each search."""
    hook = sys.unraisablehook

    def unraisable(event: Any) -> None:
        is_given_up = isinstance(event.object, CoroutineType)  # it awaits while it ends, and its loop has ended before
        if running() is None and not is_given_up and not (event.exc_type and issubclass(event.exc_type, GreenletExit)):
            hook(event)

    sys.unraisablehook = unraisable
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    warnings.filterwarnings("ignore", "unclosed transport", ResourceWarning)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it reports each task that does not end
    logging.getLogger("concurrent.futures").addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], GreenletExit))
    )


def _ident() -> int:
    """Replace ``threading.get_ident``: an address, which is the same in all processes, as after a fork."""
    return THREADS_FROM + int(current().thread.number)


def _native_id() -> int:
    """Replace ``threading.get_native_id``: different for all threads of a machine."""
    return _ident() + current().number * 1000


def _current_thread() -> Any:
    here = current()
    if here.thread.thread is None:
        thread = here.thread.thread = threading.Thread.__new__(threading.Thread)
        with contextlib.suppress(Exception):
            threading.Thread.__init__(thread, name=f"Thread-{here.thread.number + 1}", daemon=False)
        _started(thread, here.thread.number)
    return here.thread.thread


def _started(thread: Any, number: int) -> None:
    thread._ident = THREADS_FROM + number  # noqa: SLF001 - as threading does
    thread._native_id = thread._ident + current().number * 1000  # noqa: SLF001 - as above
    thread._started._flag = True  # noqa: SLF001 - not by set(): the object may be made outside of all replicas


def _start_thread(thread: Any) -> None:
    """Replace ``Thread.start``."""
    if thread._started.is_set():  # noqa: SLF001 - as threading does
        raise RuntimeError("threads can only be started once")

    def run() -> None:
        with contextlib.suppress(Exception, SystemExit):  # as in Python: the thread ends, and its process lives on
            thread.run()

    explored = current().start(run)
    explored.thread = thread
    thread.explored = explored
    _started(thread, explored.number)


def _join(thread: Any, timeout: float | None = None) -> None:
    """Replace ``Thread.join``. At the end of the process, the interpreter joins threads of replicas too: they have ended then."""
    if not hasattr(thread, "explored"):
        _join_real(thread, timeout)
    elif running() is not None:
        current().wait_for(thread.explored.is_over, timeout)


def _is_alive(thread: Any) -> bool:
    return not thread.explored.is_over() if hasattr(thread, "explored") else bool(_is_alive_real(thread))


_join_real, _is_alive_real = threading.Thread.join, threading.Thread.is_alive


def _start_new_thread(function: Callable[..., Any], args: Any, kwargs: Any = None) -> int:
    thread = current().start(lambda: function(*args, **(kwargs or {})))
    return THREADS_FROM + thread.number


def _finalize(finalizer: Any, *args: Any, **options: Any) -> None:
    """Replace ``weakref.finalize``: in a replica, it does not run when this process ends."""
    _finalize_real(finalizer, *args, **options)
    if running() is not None:
        finalizer.atexit = False


_finalize_real = weakref.finalize.__init__


def _no_process(*_: Any, **__: Any) -> Any:
    raise current().refuse("it starts a process, and the explorer follows threads and tasks only")


def replace(module: Any, name: str, stand_in: Callable[..., Any]) -> None:
    """Replace a function of a module, also in modules that have imported it by name."""
    real = getattr(module, name, None)
    if real is None:
        return
    either = or_real(stand_in, real)
    setattr(module, name, either)
    _taken[id(real)] = (real, either)


_taken: dict[int, tuple[Any, Any]] = {}  # by the address of a real function: the function, and its replacement


def _replace_taken() -> None:
    """Replace the functions that modules have imported by name."""
    for module in list(sys.modules.values()):
        if not isinstance(module, ModuleType) or module.__name__.startswith(OWN):
            continue
        for name, value in list(vars(module).items()):
            known = _taken.get(id(value))
            if known is not None and known[0] is value:
                setattr(module, name, known[1])


def install() -> None:
    """Replace the primitives. Once is enough."""
    if _taken:
        return
    for name, stand_in in TIME.items():
        replace(time, name, stand_in)
    replace(os, "urandom", lambda size: current().fresh(size))
    replace(os, "getpid", lambda: current().pid)
    for name in ("fork", "forkpty", "posix_spawn", "posix_spawnp", "system"):
        replace(os, name, _no_process)
    replace(uuid, "uuid1", lambda *_, **__: uuid.UUID(bytes=current().fresh(10) + NODE, version=1))
    replace(_thread, "start_new_thread", _start_new_thread)
    replace(_thread, "get_ident", _ident)
    replace(_thread, "get_native_id", _native_id)
    replace(_thread, "allocate_lock", ReplicaMutex)
    replace(threading, "Lock", ReplicaMutex)  # since Python 3.13 a class, and no longer the function above
    replace(threading, "RLock", threading._PyRLock)  # type: ignore[attr-defined] # noqa: SLF001 - made of the primitives above
    replace(threading, "current_thread", _current_thread)
    replace(threading, "_counter", lambda: len(current().threads))  # the number in the name of a thread
    replace(threading.Thread, "start", _start_thread)
    for name, method in (("join", _join), ("is_alive", _is_alive)):
        setattr(threading.Thread, name, method)
    queue_of_c, queue_of_python = queue.SimpleQueue, queue._PySimpleQueue  # type: ignore[attr-defined] # noqa: SLF001
    replace(queue, "SimpleQueue", queue_of_python)
    _taken[id(queue_of_c)] = (queue_of_c, queue.SimpleQueue)
    replace(atexit, "register", lambda function, *_, **__: function)
    weakref.finalize.__init__ = _finalize  # type: ignore[method-assign, assignment]
    draws.install(replace)
    _silence_ends()
    replace(subprocess, "_fork_exec", _no_process)
    _threading_local.current_thread = threading.current_thread  # type: ignore[attr-defined] # it has taken the real one
    _threading_local.RLock = threading.RLock  # type: ignore[attr-defined] # as above
    setattr(threading, "local", _threading_local.local)  # noqa: B010 - the types are not the same; the real one belongs to threads of the interpreter
    _replace_taken()
