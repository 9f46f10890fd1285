"""Ctrl-C, SIGTERM and a closed terminal end the lab in the same way: all servers stop, and the partial run is kept."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """The user or the system asked the lab to stop."""


_interrupted = threading.Event()


def unless_interrupted() -> bool:
    """Return False, or raise Interrupted if an interrupt came earlier.

    The exception of that interrupt may be lost: Python drops an exception that is raised inside a finalizer.
    """
    if _interrupted.is_set():
        raise Interrupted
    return False


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While the block runs, let SIGTERM and SIGHUP end the lab as Ctrl-C does. Raises Interrupted."""

    def interrupt(number: int, _frame: FrameType | None) -> None:
        _interrupted.set()
        raise Interrupted(signal.Signals(number).name)

    _interrupted.clear()
    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
