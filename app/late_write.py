"""The gate of a late write: while it is written, no other request is between its read and its write.

A holder that was stopped writes a number that it read long ago. Where another request has just read, and writes after it, most
of what the late write destroyed is brought back: which of the two comes first is luck. So the late write waits until nobody else
is between a read and a write, and until it is written, nobody reads. Both orders can happen. The gate only decides which.

It is a lock on a file, shared by who is inside, so it holds for the threads of all replicas. A process that dies leaves it.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class Gate:
    """The gate of one run, as one replica sees it. A thread calls it for the request that it serves."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._inside: dict[str, int] = {}  # by request, its open file

    def enter(self, request: str) -> None:
        """Let a request read. It waits while a late write is under way."""
        self.leave(request)  # a stage may do the work more than once
        self._inside[request] = os.open(self.path, os.O_RDONLY | os.O_CREAT, 0o666)
        fcntl.flock(self._inside[request], fcntl.LOCK_SH)

    def wait_for_others(self, request: str) -> None:
        """Wait until nobody but this request is inside, and keep the others out until it leaves."""
        if (file := self._inside.get(request)) is not None:
            fcntl.flock(file, fcntl.LOCK_EX)

    def leave(self, request: str) -> None:
        """End what ``enter`` began, if it did."""
        if (file := self._inside.pop(request, None)) is not None:
            os.close(file)
