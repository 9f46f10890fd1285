"""Run the stage's real code as one replica, until each of its threads waits for an operation.

The threads of replicas are greenlets of one thread of the interpreter. A thread runs until it waits for an operation, and the
caller resumes it with the result. So the caller decides the order of all events. Only one replica runs at a time:
``current()`` returns it.
"""

from __future__ import annotations

import _thread
import contextlib
import gc
import sys
from asyncio.events import _get_running_loop, _set_running_loop
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from types import FrameType
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

from lab.explore.code.operation import Choice, CommandSent, FanOut, Mark, Nap, Operation, Until
from lab.explore.model import GRID_MS, NotExplored, on_grid
from lab.explore.store.commands import SCRIPT

PIDS_FROM = 1001
MOST_STEPS = 10_000  # the steps of a replica between two operations: more steps are a loop that waits for nothing
MOST_NAPS = 4  # a thread's naps at one moment that a change of the store ends early; further naps take their full time
Line = tuple[str, int]  # a file, and the number of a line
NO_DRAWS: tuple[int, frozenset[Line]] = 1, frozenset()
LONGEST_CYCLE = 4  # commands: a waiter spins if it repeats a cycle of this length without a sleep

_running: list[Replica] = []
_here = _thread.get_ident
_owner = [0]  # the thread of the interpreter in which replicas run


def running() -> Replica | None:
    """Return the replica whose code runs now in this thread; None outside of all replicas."""
    return _running[-1] if _running and _here() == _owner[0] else None


def current() -> Replica:
    """Return the replica whose code runs now. Raises GreenletExit if the code belongs to a replica that has ended."""
    if not _running:
        raise GreenletExit
    return _running[-1]


def or_real(stand_in: Callable[..., Any], real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls ``stand_in`` in a replica, and ``real`` outside of all replicas."""

    def either(*args: Any, **options: Any) -> Any:
        return real(*args, **options) if running() is None else stand_in(*args, **options)

    either.__name__ = either.__qualname__ = getattr(real, "__name__", "stand_in")
    return either


steps = [0]  # how often replicas have run: a process that counts no further is stuck


class NeverWaits(BaseException):
    """A thread neither ends nor waits for anything that the explorer knows."""


class NewToken(BaseException):
    """The search must begin again: a line makes a token of many narrow draws, or a client can tell which scripts are loaded."""


class Thread:
    """A thread of a replica, or a connection of its event loop."""

    def __init__(self, number: int, target: Callable[[], object] | None, own: bool) -> None:
        self.number = number
        self.own = own  # whether it serves a request; otherwise it is a thread in the background
        self.request: int | None = None  # the request that it serves, or that has started it
        self.greenlet: Any = greenlet(target) if target is not None else None  # None for a connection of an event loop
        self.at: Any = self.greenlet  # the greenlet that waits: its own, or one that its code has made
        self.deliver: Callable[[Any], None] | None = None  # takes each reply and message, if the thread is a connection's
        self.pending: Operation | None = None  # None before it starts, and after it has ended
        self.ready: Callable[[], bool] | None = None  # a condition that another thread of this replica can make true
        self.thread: Any = None  # the ``threading.Thread``
        self.loop: Any = None  # the event loop that runs in it
        self.hooks: Any = (None, None)  # the loop's hooks for asynchronous generators: the interpreter has one pair for all loops
        self.sent: list[Any] = []  # the connections to several servers on which it waits for answers
        self.recent: list[tuple[Any, Any]] = []  # its commands and their replies since it last slept
        self.draws: tuple[int, frozenset[Line]] = NO_DRAWS  # since its last operation: the product of the ranges, and the lines
        self.started = False

    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self.greenlet is not None and self.started and self.greenlet.dead


class Replica:
    """A process of the stage under the explorer. Its first threads serve requests; its other threads renew or listen."""

    def __init__(self, number: int, modules: Any, drawing: Any, nap_ms: int, at_ms: int) -> None:
        """Make a replica with its own copies of modules. at_ms: the time on its clock."""
        self.number, self.modules, self.drawing = number, modules, drawing
        self.nap_ms, self.now_ms = nap_ms, at_ms
        self.pid = PIDS_FROM + number
        self.threads: list[Thread] = []
        self.thread: Any = None  # the thread that runs now
        self.marks: list[tuple[int, Mark]] = []  # the marks of this step: the number of the request, and the mark
        self.inside: set[int] = set()  # the requests that are in their work
        self.asking_again: set[int] = set()  # the requests in their work that acquire their lock again
        self.connections = 0  # how many connections have a number
        self.closed: set[int] = set()  # the numbers of subscribed connections that the code has closed
        self.token_counts: dict[Line, int] = {}  # by line of the stage: how many tokens the replica has drawn there
        self.stopped_by: BaseException | None = None  # the explorer's first exception: the code may have caught it
        self.is_closing = False
        self.naps: tuple[int, dict[int, int]] = 0, {}  # the moment of the last nap; by thread: how many naps began then
        self._hub: Any = None

    # for the code that runs in it

    def wait(self, operation: Operation) -> Any:
        """Let the running thread wait for an operation, and return its result."""
        if self.is_closing:
            raise GreenletExit
        if not isinstance(operation, Choice):
            self.thread.draws = NO_DRAWS
            if not isinstance(operation, CommandSent | FanOut):
                self.thread.recent.clear()
        self.thread.at = getcurrent()
        return self._hub.switch(operation)

    def wait_for(self, ready: Callable[[], bool], timeout_s: float | None) -> None:
        """Let the running thread wait until another thread of this replica makes ``ready`` true, or the time is over."""
        if ready():
            return
        if timeout_s is not None and self.is_nap(timeout_s):
            self.thread.ready = ready
            self.nap()
            return
        at_ms = None if timeout_s is None else self.now_ms + on_grid(max(0, timeout_s) * 1000)
        while not ready() and (at_ms is None or self.now_ms < at_ms):
            self.thread.ready = ready
            self.wait(Until(at_ms))

    def sleep(self, duration_s: float) -> None:
        """Let the running thread sleep. A short sleep outside the work is a nap between two tries."""
        if self.is_nap(duration_s):
            self.nap()
        elif duration_s > 0:
            self.wait(Until(self.now_ms + on_grid(duration_s * 1000)))

    def is_nap(self, duration_s: float) -> bool:
        """Return whether a wait is a nap: a short wait between two tries."""
        request, works = self.thread.request, self.inside - self.asking_again
        return 0 < duration_s * 1000 < GRID_MS and (not works if request is None else request not in works)

    def nap(self) -> None:
        """Let the running thread sleep until the lock's store changes, or until its nap is over."""
        moment_ms, naps = self.naps
        if self.now_ms > moment_ms:
            moment_ms, naps = self.naps = self.now_ms, {}
        naps[self.thread.number] = number = naps.get(self.thread.number, 0) + 1
        at_ms = self.now_ms + self.nap_ms
        self.wait(Nap(at_ms) if number <= MOST_NAPS else Until(at_ms))

    def command(self, sent: CommandSent | FanOut) -> Any:
        """Let the running thread wait for a command, and return the reply. A waiter that repeats the same commands naps first."""
        recent = self.thread.recent
        commands = (sent,) if isinstance(sent, CommandSent) else sent.commands
        sending = tuple([(command.server, command.node, command.words) for command in commands])
        for length in range(1, min(LONGEST_CYCLE, len(recent) // 2) + 1):
            last, before = recent[-length:], recent[-2 * length : -length]
            if last == before and last[0][0] == sending:  # it has repeated the same commands, and is about to begin again
                self.nap()
                break
        result = self.wait(sent)
        if sending[0][2][0] == SCRIPT and recent:  # after loading a script, the client sends its last command again
            recent.pop()
        else:
            recent.append((sending, result))
        return result

    def start(self, target: Callable[[], object], own: bool = False) -> Thread:
        """Start a thread, and return it. It runs when the running thread waits."""
        thread = Thread(len(self.threads), target, own)
        thread.request = thread.number if own else self.thread.request
        self.threads.append(thread)
        return thread

    def connection_of_loop(self, deliver: Callable[[Any], None]) -> Thread:
        """Return a new connection of an event loop, as a thread that waits for replies. It serves the request if there is one."""
        is_only_request = sum(thread.own for thread in self.threads if not thread.deliver) == 1
        thread = Thread(len(self.threads), None, self.thread.own or is_only_request)
        thread.deliver, thread.started = deliver, True
        self.threads.append(thread)
        return thread

    def fresh(self, size: int) -> bytes:
        """Return ``size`` bytes that no other call in any replica returns. A repetition returns the same bytes.

        The draws of each line of the stage are counted apart: a library that draws once for each process does not change the
        numbers that other lines draw.
        """
        file, line = self.line()
        self.token_counts[file, line] = number = self.token_counts.get((file, line), 0) + 1
        digits, part = b"", 0
        while len(digits) < size:
            digits += blake2b(f"{self.number} {Path(file).name} {line} {number} {part}".encode(), digest_size=32).digest()
            part += 1
        if file:
            self.drawing.drew(self.number, digits[:size])
        return digits[:size]

    def line(self) -> Line:
        """Return the file and line of the innermost frame in the stage, or in a module of which the replica has a copy."""
        paths = self.modules.paths
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as the module traceback does
        while frame is not None:
            if frame.f_code.co_filename in paths:
                return frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back
        return "", 0

    def refuse(self, message: str) -> NotExplored:
        """Return the exception for an action without a model. The replica raises it later if the code catches it."""
        refusal = NotExplored(message)
        self.stopped_by = self.stopped_by or refusal
        return refusal

    # for the search

    def begin(self, *requests: Callable[[], object]) -> None:
        """Start the requests, each in its own thread, and run until all wait."""
        for request in requests:
            self.start(request, own=True)
        with self._entered():
            self._run()

    def resume(self, inputs: Iterable[tuple[int, Any, int]]) -> None:
        """Give results to threads, one after another, and each time run until all threads wait again.

        inputs: for each, the number of the thread, the result of its operation, and the time on the clock in milliseconds.
        """
        with self._entered():
            for thread, result, self.now_ms in inputs:
                self.marks.clear()
                self._switch(self.threads[thread], result)
                self._run()

    def _run(self) -> None:
        steps[0] += 1
        for _ in range(MOST_STEPS):
            able = (thread for thread in self.threads if not thread.started or (thread.ready is not None and thread.ready()))
            if (thread := next(able, None)) is None:
                break
            self._switch(thread, None)
        else:
            raise NeverWaits("its threads wake each other without end")
        if self.stopped_by is not None:
            raise self.stopped_by

    @contextlib.contextmanager
    def _entered(self) -> Iterator[None]:
        """Be the running replica during the block, without garbage collection: it would run finalizers of other replicas here."""
        collects = gc.isenabled()
        gc.disable()
        _running.append(self)
        _owner[0] = _here()
        self._hub = getcurrent()
        self.modules.enter()
        try:
            yield
        finally:
            self.modules.leave()
            _running.pop()
            if collects:
                gc.enable()

    def _switch(self, thread: Thread, result: Any) -> None:
        """Resume a thread with the result of its operation, until it waits again."""
        thread.ready = None
        self.thread = thread
        if thread.deliver is not None:
            thread.pending = None
            thread.deliver(result)
            return
        if thread.loop is not None:
            _set_running_loop(thread.loop)
            sys.set_asyncgen_hooks(*thread.hooks)
        if thread.started:
            operation = thread.at.switch(result)
        else:
            thread.started, thread.greenlet.parent = True, self._hub
            operation = thread.greenlet.switch()
        if thread.loop is not None or _get_running_loop() is not None:
            thread.loop, thread.hooks = _get_running_loop(), sys.get_asyncgen_hooks()
            _set_running_loop(None)
            sys.set_asyncgen_hooks(None, None)
        thread.pending = None if thread.greenlet.dead else operation

    def close(self) -> None:
        """End all threads. Commands that their code sends while it ends are dropped."""
        self.is_closing = True
        with self._entered():
            for thread in self.threads:
                for _ in range(MOST_STEPS):  # a finally of the stage may send a command
                    if thread.greenlet is None or not thread.started or thread.greenlet.dead:
                        break
                    self.thread, self._hub = thread, getcurrent()
                    thread.at.throw(GreenletExit)
