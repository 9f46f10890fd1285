"""Servers that run for the duration of a block, and one supervisor for all runs of a process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from lab.interrupts import interruptible
from lab.servers.supervisor import Supervisor

_of_all: list[Supervisor] = []  # the supervisor of all runs of this process, where they have one


@contextlib.contextmanager
def supervised() -> Iterator[Supervisor]:
    """Yield a supervisor for the servers that the block starts. An interrupt ends the block; no server outlives it."""
    with interruptible():
        supervisor = _of_all[0] if _of_all else Supervisor()
        try:
            yield supervisor
        finally:
            if _of_all:
                supervisor.end_all()
            else:
                supervisor.close()


@contextlib.contextmanager
def one_supervisor() -> Iterator[None]:
    """While the block runs, let the runs of this process have one supervisor: what a fork server imported for one run serves
    the next run.
    """
    _of_all.append(Supervisor())
    try:
        yield
    finally:
        _of_all.pop().close()
