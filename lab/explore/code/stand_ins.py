"""Time, threads, chance and the process, as a replica under the explorer sees them.

The primitives of Python's library are replaced once, for the whole process: ``time.sleep``, a lock, the start of a thread,
``os.urandom``. Outside a replica each does what it always did. What the library builds on them (events, conditions, queues,
timers, pools of threads, ``uuid``, ``secrets``) is the library's own. So a stage runs unchanged, and so do libraries.
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
from pathlib import Path
from types import CoroutineType, ModuleType
from typing import Any

import redis
from greenlet import GreenletExit

from lab.explore.code import draws
from lab.explore.code.replica import current, or_real, running
from lab.explore.model import EPOCH_MS
from lab.paths import HOME

OWN = "lab.explore."  # its modules see the interpreter as it is
NODE = b"\x02lab\x00\x01"  # of a uuid1: all processes are on one machine
STOPWATCH_MS = 1 << 20  # of perf_counter at the beginning: some stopwatches take zero for "not started"
THREADS_FROM = 1 << 40  # how the threads of a replica are numbered for ``threading.get_ident``

_real = {name: getattr(time, name) for name in ("sleep", "monotonic", "time", "gmtime", "localtime", "ctime", "strftime")}


# they read the clock to note how long something took, and nothing depends on it: the lab's journal, and redis-py's statistics
JOURNAL = frozenset(str(HOME / "app" / name) for name in ("increment.py", "journal.py", "request/context.py"))
STATISTICS = frozenset(str(Path(redis.__file__).parent / name) for name in ("client.py", "connection.py", "asyncio/client.py"))
TIMED = frozenset(
    ("_execute_command", "execute_command", "_execute", "immediate_execute_command", "execute", "get_connection", "_reconnect")
)


def stopwatch_ms() -> int:
    """Return what the clock reads, for the caller of a function of ``time``. A note of a duration is no look at the clock."""
    here, caller = current(), sys._getframe(3).f_code  # noqa: SLF001 - as the module traceback does
    is_note = caller.co_filename in JOURNAL or (caller.co_name in TIMED and caller.co_filename in STATISTICS)
    return here.clock_ms if is_note else here.now_ms


def now_s() -> float:
    """Return the time of day on the clock of the search."""
    return (EPOCH_MS + current().now_ms) / 1000


TIME: dict[str, Callable[..., Any]] = {
    "sleep": lambda duration_s: current().sleep(duration_s),
    "monotonic": lambda: stopwatch_ms() / 1000,
    "monotonic_ns": lambda: stopwatch_ms() * 1_000_000,
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
    """``datetime.datetime``: now is what the clock of the search reads."""

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
    """``datetime.date``: today is what the clock of the search reads."""

    @classmethod
    def today(cls) -> Any:
        return cls.fromtimestamp(now_s() if running() else _real["time"]())


def datetime_module() -> ModuleType:
    """Return ``datetime`` for the modules of a replica: its classes cannot be changed, so they get others."""
    made = ModuleType("datetime")
    made.__dict__.update(vars(dt), datetime=Datetime, date=Date)
    return made


_real_mutex = _thread.allocate_lock


class ReplicaMutex:
    """A mutex between the threads of a replica. One that outlives its replica is a mutex between those of the interpreter."""

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


def _say_nothing_of_ends() -> None:
    """Let nobody report that a replica has ended in the middle of something: many do, at the end of each search."""
    hook = sys.unraisablehook

    def unraisable(found: Any) -> None:
        is_given_up = isinstance(found.object, CoroutineType)  # it awaits something at its end, and there is no loop any more
        if running() is None and not is_given_up and not (found.exc_type and issubclass(found.exc_type, GreenletExit)):
            hook(found)

    sys.unraisablehook = unraisable
    warnings.filterwarnings("ignore", "coroutine .* was never awaited", RuntimeWarning)
    warnings.filterwarnings("ignore", "unclosed transport", ResourceWarning)
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it reports each task that is given up
    logging.getLogger("concurrent.futures").addFilter(
        lambda record: not (record.exc_info and isinstance(record.exc_info[1], GreenletExit))
    )


def _ident() -> int:
    """``threading.get_ident``: it is an address, and as after a fork those of all processes are the same."""
    return THREADS_FROM + int(current().thread.number)


def _native_id() -> int:
    """``threading.get_native_id``: no two threads of a machine have the same."""
    return _ident() + current().number * 1000


def _current_thread() -> Any:
    here = current()
    if here.thread.thread is None:
        made = here.thread.thread = threading.Thread.__new__(threading.Thread)
        with contextlib.suppress(Exception):
            threading.Thread.__init__(made, name=f"Thread-{here.thread.number + 1}", daemon=False)
        _started(made, here.thread.number)
    return here.thread.thread


def _started(thread: Any, number: int) -> None:
    thread._ident = THREADS_FROM + number  # noqa: SLF001 - as threading does
    thread._native_id = thread._ident + current().number * 1000  # noqa: SLF001 - as above
    thread._started._flag = True  # noqa: SLF001 - its lock is that of no replica where the object was made outside


def _start_thread(thread: Any) -> None:
    """``Thread.start``."""
    if thread._started.is_set():  # noqa: SLF001 - as threading does
        raise RuntimeError("threads can only be started once")

    def run() -> None:
        with contextlib.suppress(Exception, SystemExit):  # as in Python: the thread ends, and its process lives on
            thread.run()

    made = current().start(run)
    made.thread = thread
    thread.explored = made
    _started(thread, made.number)


def _join(thread: Any, timeout: float | None = None) -> None:
    """``Thread.join``. At the end of the process, threads of replicas are joined as well: they have ended by then."""
    if not hasattr(thread, "explored"):
        _join_real(thread, timeout)
    elif running() is not None:
        current().wait_for(thread.explored.is_over, timeout)


def _is_alive(thread: Any) -> bool:
    return not thread.explored.is_over() if hasattr(thread, "explored") else bool(_is_alive_real(thread))


_join_real, _is_alive_real = threading.Thread.join, threading.Thread.is_alive


def _start_new_thread(function: Callable[..., Any], args: Any, kwargs: Any = None) -> int:
    made = current().start(lambda: function(*args, **(kwargs or {})))
    return THREADS_FROM + made.number


def _finalize(made: Any, *args: Any, **options: Any) -> None:
    """``weakref.finalize``: the end of this process is not that of a replica."""
    _finalize_real(made, *args, **options)
    if running() is not None:
        made.atexit = False


_finalize_real = weakref.finalize.__init__


def _no_process(*_: Any, **__: Any) -> Any:
    raise current().refuse("it starts a process, and the explorer follows threads and tasks only")


def replace(module: Any, name: str, stand_in: Callable[..., Any]) -> None:
    """Replace a function of a module, also where another module of the library has taken it by its name."""
    real = getattr(module, name, None)
    if real is None:
        return
    either = or_real(stand_in, real)
    setattr(module, name, either)
    _taken[id(real)] = (real, either)


_taken: dict[int, tuple[Any, Any]] = {}  # by the place of the real function: it, and what replaces it


def _replace_taken() -> None:
    """Replace what modules have imported by its name before."""
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
    replace(threading, "_counter", lambda: len(current().threads))  # in the name of a thread
    replace(threading.Thread, "start", _start_thread)
    for name, method in (("join", _join), ("is_alive", _is_alive)):
        setattr(threading.Thread, name, method)
    queue_of_c, queue_of_python = queue.SimpleQueue, queue._PySimpleQueue  # type: ignore[attr-defined] # noqa: SLF001
    replace(queue, "SimpleQueue", queue_of_python)
    _taken[id(queue_of_c)] = (queue_of_c, queue.SimpleQueue)
    replace(atexit, "register", lambda function, *_, **__: function)
    weakref.finalize.__init__ = _finalize  # type: ignore[method-assign, assignment]
    draws.install(replace)
    _say_nothing_of_ends()
    replace(subprocess, "_fork_exec", _no_process)
    _threading_local.current_thread = threading.current_thread  # type: ignore[attr-defined] # it has taken the real one
    _threading_local.RLock = threading.RLock  # type: ignore[attr-defined] # as above
    setattr(threading, "local", _threading_local.local)  # noqa: B010 - the types are not the same; the real one belongs to threads of the interpreter
    _replace_taken()
