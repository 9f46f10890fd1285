"""Servers that run for the duration of a block."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from lab.interrupts import interruptible
from lab.servers.supervisor import Supervisor


@contextlib.contextmanager
def supervised() -> Iterator[Supervisor]:
    """Yield a supervisor for the servers that the block starts. An interrupt ends the block; no
    server outlives it.
    """
    with interruptible():
        supervisor = Supervisor()
        try:
            yield supervisor
        finally:
            supervisor.close()
