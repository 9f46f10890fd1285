"""One replica: the stage's real code, run until each of its threads waits for an operation.

The threads are greenlets of this thread. A thread runs until it waits, and is resumed with what it waited for. So the order
of everything that happens is decided by the caller. Only one replica runs at a time: ``current`` is the one that runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from greenlet import GreenletExit, getcurrent, greenlet

from lab.explore.operation import Mark, Operation, Until

PIDS_FROM = 1001
MOST_STEPS = 10_000  # of a replica between two operations: more is a loop that waits for nothing

_running: list[Replica] = []


def current() -> Replica:
    """Return the replica whose code runs now."""
    return _running[-1]


class NeverWaits(BaseException):
    """A thread neither ends nor waits for anything that the explorer knows."""


class Thread:
    """One thread of a replica."""

    def __init__(self, number: int, target: Callable[[], object], hub: Any) -> None:
        self.number = number
        self.greenlet: Any = greenlet(target, hub)
        self.pending: Operation | None = None  # None before it starts, and when it has ended
        self.ready: Callable[[], bool] | None = None  # what another thread of this replica can make true
        self.local: dict[Any, Any] = {}
        self.watcher: Any = None  # the connection on which it watches keys
        self.sent: list[Any] = []  # the connections on which it sent a command to one of several servers, and has no answer yet
        self.started = False


class Replica:
    """A process of the stage under the explorer. The first thread serves the request; others renew or listen."""

    def __init__(self, number: int, path: str = "") -> None:
        self.number = number
        self.path = path  # the stage's file
        self.pid = PIDS_FROM + number
        self.looked_at_clock = False  # in this step
        self.threads: list[Thread] = []
        self.thread: Any = None  # the thread that runs now
        self.marks: list[Mark] = []  # what happened in this step
        self.inside = False  # whether the request is in its work
        self.kept: dict[Any, Any] = {}  # what belongs to this process
        self.copies: Any = None  # its own copies of modules, once it has some
        self.drawn = 0  # how many fresh numbers
        self._now_ms = 0
        self._hub: Any = None

    # for the code that runs in it

    @property
    def now_ms(self) -> int:
        """What the clock reads."""
        self.looked_at_clock = True
        return self._now_ms

    def wait(self, operation: Operation) -> Any:
        """Let the running thread wait for an operation, and return what came of it."""
        return self._hub.switch(operation)

    def wait_for(self, ready: Callable[[], bool], at_ms: int | None) -> None:
        """Let the running thread wait until another thread of this replica makes ``ready`` true, or until a moment."""
        while not ready() and (at_ms is None or self.now_ms < at_ms):
            self.thread.ready = ready
            self.wait(Until(at_ms))

    def start(self, target: Callable[[], object]) -> None:
        """Start a thread. It runs when the running thread waits."""
        self.threads.append(Thread(len(self.threads), target, self._hub))

    def fresh(self) -> int:
        """Return a number that no other call returns, in any replica, and that each repetition returns again."""
        self.drawn += 1
        return (self.number + 1) << 64 | self.drawn

    # for the search

    def begin(self, target: Callable[[], object]) -> None:
        """Start the request."""
        self._hub = getcurrent()
        self.start(target)
        self._run(None)

    def resume(self, thread: int, result: Any, now_ms: int) -> None:
        """Give a thread what it waited for, and run until all threads wait again."""
        self._now_ms, self.looked_at_clock = now_ms, False
        self.marks.clear()
        self._run((self.threads[thread], result))

    def _run(self, first: tuple[Thread, Any] | None) -> None:
        _running.append(self)
        self._hub = getcurrent()
        try:
            if first is not None:
                self._switch(*first)
            for _ in range(MOST_STEPS):
                able = next((one for one in self.threads if not one.started or (one.ready is not None and one.ready())), None)
                if able is None:
                    return
                self._switch(able, None)
            raise NeverWaits("its threads wake each other without end")
        finally:
            _running.pop()

    def _switch(self, thread: Thread, result: Any) -> None:
        self.thread, thread.started, thread.ready = thread, True, None
        operation = thread.greenlet.switch() if result is None and thread.pending is None else thread.greenlet.switch(result)
        thread.pending = None if thread.greenlet.dead else operation

    def close(self) -> None:
        """End all threads. What their code still sends while it ends goes nowhere."""
        _running.append(self)
        try:
            for one in self.threads:
                if one.started and not one.greenlet.dead:
                    self._hub = getcurrent()
                    for _ in range(MOST_STEPS):  # a finally of the stage may send a command
                        one.greenlet.throw(GreenletExit)
                        if one.greenlet.dead:
                            break
        finally:
            _running.pop()
