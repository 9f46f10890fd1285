"""Processes that are forked from this one, and end with it."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from typing import Any

from lab.interrupts import end_with_parent, pending, signals_held

FORK = multiprocessing.get_context("fork")


def forked(target: Callable[..., object], *about: Any) -> tuple[ForkProcess, Connection]:
    """Start a process that calls ``target(*about, pipe)``. Return it, and this end of its pipe. Raises Interrupted.

    Ctrl-C reaches only this process, which decides: the forked one ends at its SIGTERM, or with this one.
    """
    near, far = FORK.Pipe()
    process = FORK.Process(target=_work, args=(target, about, far), daemon=True)
    with signals_held() as signals:  # Python drops an error that a signal raises in a function called at a fork
        process.start()
        far.close()
        signals.release()
    return process, near


def _work(target: Callable[..., object], about: tuple[Any, ...], pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    end_with_parent()
    if pending() is None:  # else a signal came before this process took it as it should
        target(*about, pipe)
