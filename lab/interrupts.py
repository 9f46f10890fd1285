"""End the lab in the same way on Ctrl-C, SIGTERM and a closed terminal: all servers stop, and the partial run is kept."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

PR_SET_PDEATHSIG = 1
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(KeyboardInterrupt):
    """The user or the system asked the lab to stop. The message names the signal, or another reason."""


_pending: list[Interrupted] = []  # the latest interrupt, if there was one
_came: list[Interrupted] = []  # the latest interrupt while signals were held
_holders: set[Signals] = set()  # the objects that hold the signals now


def interrupt(reason: Interrupted) -> None:
    """Note an interrupt, so that ``unless_interrupted`` raises it."""
    _pending[:] = [reason]


def pending() -> Interrupted | None:
    """Return the latest interrupt; None without one."""
    return _pending[0] if _pending else None


def unless_interrupted() -> bool:
    """Return False; raise Interrupted if an interrupt came earlier.

    The interrupt's own exception may be lost: Python drops an exception that is raised inside a finalizer, and an exception
    of another thread does not reach this one.
    """
    if _pending:
        raise _pending[0]
    return False


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While the block runs, let SIGTERM and SIGHUP end the lab as Ctrl-C does. Raises Interrupted."""
    _pending.clear()
    previous = raise_on_signals()
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def raise_on_signals() -> dict[signal.Signals, Any]:
    """Let SIGINT, SIGTERM and SIGHUP raise Interrupted from now on. Return the previous handlers.

    Under ``nohup`` SIGHUP is ignored, and stays ignored.
    """

    def stop(number: int, _frame: FrameType | None) -> None:
        interrupt(Interrupted(signal.Signals(number).name))
        if not _holders:
            raise _pending[0]
        _came[:] = _pending

    heeded = [number for number in SIGNALS if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]
    return {number: signal.signal(number, stop) for number in heeded}


class Signals:
    """A hold on signals: while it lasts, a signal is only noted. Several holds can overlap.

    Blocking signals in this thread would not work: another thread of the process would receive them.
    """

    def hold(self) -> None:
        """Only note a signal from now on."""
        _holders.add(self)

    def release(self) -> None:
        """Let a signal interrupt again, unless there is another hold. Raises Interrupted if a signal was noted."""
        _holders.discard(self)
        if _came and not _holders:
            raise _came.pop()


@contextlib.contextmanager
def signals_held() -> Iterator[Signals]:
    """Hold signals until the block releases them, or ends."""
    signals = Signals()
    signals.hold()
    try:
        yield signals
    finally:
        _holders.discard(signals)
        if not _holders:
            _came.clear()


def ignore_signals() -> None:
    """Ignore all signals from now on, while this process ends."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def end_with_parent() -> None:
    """Let the kernel kill this process when its parent ends. Only Linux can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


PARENT = "LAB_PARENT"  # in the environment of a lab that this process starts: the pid of this process


def end_with_lab() -> None:
    """If another lab has started this process, kill it as soon as that lab is gone. Its supervisor then ends its servers.

    The kernel's signal for a parent's death does not work here: it comes at the end of the thread that started this process.
    """
    parent = os.environ.pop(PARENT, "")  # popped: the processes below this one have another parent

    def watch() -> None:
        while str(os.getppid()) == parent:
            time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)

    if parent:
        threading.Thread(target=watch, name="parent", daemon=True).start()
