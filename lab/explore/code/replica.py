"""One replica: the stage's real code, run until each of its threads waits for an operation.

The threads are greenlets of this thread. A thread runs until it waits, and is resumed with what it waited for. So the order
of everything that happens is decided by the caller. Only one replica runs at a time: ``current`` is the one that runs.
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
MOST_STEPS = 10_000  # of a replica between two operations: more is a loop that waits for nothing
MOST_NAPS = 4  # at one moment that a change of the store may end early: a further nap takes its time
Place = tuple[str, int]  # a file, and a line of it
NO_DRAWS: tuple[int, frozenset[Place]] = 1, frozenset()
LONGEST_CYCLE = 4  # of the same commands and replies, without a sleep: such a waiter spins

_running: list[Replica] = []
_here = _thread.get_ident
_owner = [0]  # the thread of the interpreter in which replicas run


def running() -> Replica | None:
    """Return the replica whose code runs now in this thread; None outside of them."""
    return _running[-1] if _running and _here() == _owner[0] else None


def current() -> Replica:
    """Return the replica whose code runs now. What the code of one still does that has ended, goes nowhere."""
    if not _running:
        raise GreenletExit
    return _running[-1]


def or_real(stand_in: Callable[..., Any], real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the one in a replica, and the other outside."""

    def either(*args: Any, **options: Any) -> Any:
        return real(*args, **options) if running() is None else stand_in(*args, **options)

    either.__name__ = either.__qualname__ = getattr(real, "__name__", "stand_in")
    return either


steps = [0]  # how often a replica has run


class NeverWaits(BaseException):
    """A thread neither ends nor waits for anything that the explorer knows."""


class NewToken(BaseException):
    """A line makes a token of many narrow draws, or a client notices which scripts are loaded. The search begins again."""


class Thread:
    """One thread of a replica, or one connection of its event loop."""

    def __init__(self, number: int, target: Callable[[], object] | None, own: bool) -> None:
        self.number = number
        self.own = own  # whether it serves a request, and is not a thread in the background
        self.request: int | None = None  # the request that it serves, or that has started it
        self.greenlet: Any = greenlet(target) if target is not None else None  # None for a connection of an event loop
        self.at: Any = self.greenlet  # where it waits: its greenlet, or one that its code has made
        self.deliver: Callable[[Any], None] | None = None  # of a connection: takes what came
        self.pending: Operation | None = None  # None before it starts, and when it has ended
        self.ready: Callable[[], bool] | None = None  # what another thread of this replica can make true
        self.thread: Any = None  # the object of ``threading``
        self.loop: Any = None  # the event loop that runs in it
        self.hooks: Any = (None, None)  # which that loop has for asynchronous generators: the interpreter keeps them for all
        self.sent: list[Any] = []  # the connections on which it asked one of several servers, and has no answer yet
        self.recent: list[tuple[Any, Any]] = []  # its commands and their replies since it last slept
        self.drawn: tuple[int, frozenset[Place]] = NO_DRAWS  # since its last operation: how many values all draws have, and where
        self.started = False

    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self.greenlet is not None and self.started and self.greenlet.dead


class Replica:
    """A process of the stage under the explorer. The first threads serve requests; others renew or listen."""

    def __init__(self, number: int, modules: Any, drawing: Any, nap_ms: int, at_ms: int) -> None:
        """Take its number and its own copies of modules. at_ms: what the clock reads."""
        self.number, self.modules, self.drawing = number, modules, drawing
        self.nap_ms, self.clock_ms = nap_ms, at_ms
        self.pid = PIDS_FROM + number
        self.looked_at_clock = False  # in this step
        self.threads: list[Thread] = []
        self.thread: Any = None  # the thread that runs now
        self.marks: list[tuple[int, Mark]] = []  # what happened in this step: the request's number, and the mark
        self.inside: set[int] = set()  # the requests that are in their work
        self.asking_again: set[int] = set()  # those of them that acquire their lock again
        self.connections = 0  # how many have a number
        self.closed: set[int] = set()  # those of them that were subscribed, and that the code has closed
        self.drawn: dict[tuple[str, int], int] = {}  # by line of the stage, how many fresh numbers
        self.must_begin_again = False
        self.refusal: NotExplored | None = None  # what it has no model of, where the code has caught the exception
        self.is_closing = False
        self.naps: tuple[int, dict[int, int]] = 0, {}  # the moment of the last nap; by thread, how many began then
        self._hub: Any = None

    # for the code that runs in it

    @property
    def now_ms(self) -> int:
        """What the clock reads, for code that does something else at another time."""
        self.looked_at_clock = True
        return self.clock_ms

    def wait(self, operation: Operation) -> Any:
        """Let the running thread wait for an operation, and return what came of it."""
        if self.is_closing:
            raise GreenletExit
        if not isinstance(operation, Choice):
            self.thread.drawn = NO_DRAWS
            if not isinstance(operation, CommandSent | FanOut):
                self.thread.recent.clear()
        self.thread.at = getcurrent()
        return self._hub.switch(operation)

    def wait_for(self, ready: Callable[[], bool], timeout_s: float | None) -> None:
        """Let the running thread wait until another thread of this replica makes ``ready`` true, or for some time."""
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
        """Let the running thread sleep. Outside its work, a short sleep is a nap between two tries."""
        if self.is_nap(duration_s):
            self.nap()
        elif duration_s > 0:
            self.wait(Until(self.now_ms + on_grid(duration_s * 1000)))

    def is_nap(self, duration_s: float) -> bool:
        """Return whether a wait is a nap: it is short, and between two tries."""
        request, works = self.thread.request, self.inside - self.asking_again
        return 0 < duration_s * 1000 < GRID_MS and (not works if request is None else request not in works)

    def nap(self) -> None:
        """Let the running thread sleep until the lock's store changes, or for a short time."""
        moment_ms, naps = self.naps
        if self.now_ms > moment_ms:
            moment_ms, naps = self.naps = self.now_ms, {}
        naps[self.thread.number] = number = naps.get(self.thread.number, 0) + 1
        at_ms = self.clock_ms + self.nap_ms
        self.wait(Nap(at_ms) if number <= MOST_NAPS else Until(at_ms))

    def command(self, sent: CommandSent | FanOut) -> Any:
        """Let the running thread wait for a command. A waiter that spins naps first: it sends the same again and again."""
        recent = self.thread.recent
        what = tuple([(one.server, one.node, one.words) for one in ((sent,) if isinstance(sent, CommandSent) else sent.commands)])
        for length in range(1, min(LONGEST_CYCLE, len(recent) // 2) + 1):
            last, before = recent[-length:], recent[-2 * length : -length]
            if last == before and last[0][0] == what:  # it has done the same twice, and is about to do it again
                self.nap()
                break
        result = self.wait(sent)
        if what[0][2][0] == SCRIPT and recent:  # a client that loads a script asks again: that is no other step
            recent.pop()
        else:
            recent.append((what, result))
        return result

    def start(self, target: Callable[[], object], own: bool = False) -> Thread:
        """Start a thread. It runs when the running thread waits."""
        made = Thread(len(self.threads), target, own)
        made.request = made.number if own else self.thread.request
        self.threads.append(made)
        return made

    def connection_of_loop(self, deliver: Callable[[Any], None]) -> Thread:
        """Return a connection of an event loop: it waits for replies as a thread does, and serves the request if there is one."""
        made = Thread(len(self.threads), None, self.thread.own or sum(one.own for one in self.threads if not one.deliver) == 1)
        made.deliver, made.started = deliver, True
        self.threads.append(made)
        return made

    def fresh(self, size: int) -> bytes:
        """Return bytes that no other call returns, in any replica, and that each repetition returns again.

        The draws of each line of the stage are numbered by themselves: a library that draws once for a process, when it is
        used first, changes nothing for the others.
        """
        file, line = place = self.line()
        self.drawn[place] = number = self.drawn.get(place, 0) + 1
        found, part = b"", 0
        while len(found) < size:
            found += blake2b(f"{self.number} {Path(file).name} {line} {number} {part}".encode(), digest_size=32).digest()
            part += 1
        if file:
            self.drawing.drew(self.number, found[:size])
        return found[:size]

    def line(self) -> tuple[str, int]:
        """Return the file and line of the stage that runs: the innermost frame of it, or of a module that it has a copy of."""
        paths = self.modules.paths
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as the module traceback does
        while frame is not None:
            if frame.f_code.co_filename in paths:
                return frame.f_code.co_filename, frame.f_lineno
            frame = frame.f_back
        return "", 0

    def refuse(self, what: str) -> NotExplored:
        """Return the exception for what the explorer has no model of. It is remembered, should the code catch it."""
        self.refusal = self.refusal or NotExplored(what)
        return self.refusal

    # for the search

    def begin(self, *requests: Callable[[], object]) -> None:
        """Start the requests, each in a thread of its own."""
        for one in requests:
            self.start(one, own=True)
        with self._entered():
            self._run()

    def resume(self, inputs: Iterable[tuple[int, Any, int]]) -> None:
        """Give threads what they waited for, one after the other, and run until all threads wait again.

        inputs: the number of the thread, what came, and what the clock reads then.
        """
        with self._entered():
            for thread, result, now_ms in inputs:
                self.clock_ms, self.looked_at_clock = now_ms, False
                self.marks.clear()
                self._switch(self.threads[thread], result)
                self._run()

    def _run(self) -> None:
        steps[0] += 1
        for _ in range(MOST_STEPS):
            able = next((one for one in self.threads if not one.started or (one.ready is not None and one.ready())), None)
            if able is None:
                break
            self._switch(able, None)
        else:
            raise NeverWaits("its threads wake each other without end")
        if self.must_begin_again:
            raise NewToken
        if self.refusal is not None:
            raise self.refusal

    @contextlib.contextmanager
    def _entered(self) -> Iterator[None]:
        """Be the replica that runs, for a block. No garbage of others is collected in it: their ends would count as its own."""
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
        """Let a thread go on with what it waited for, until it waits again."""
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
        """End all threads. What their code still sends while it ends goes nowhere."""
        self.is_closing = True
        with self._entered():
            for one in self.threads:
                for _ in range(MOST_STEPS):  # a finally of the stage may send a command
                    if one.greenlet is None or not one.started or one.greenlet.dead:
                        break
                    self.thread, self._hub = one, getcurrent()
                    one.at.throw(GreenletExit)
