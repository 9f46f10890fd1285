"""Turns among the threads of one process: first come, first served, by key.

A mutex of the operating system would do, but promises no order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Who waits for which key, in the order in which they came."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[threading.Event]] = {}
        self._mutex = threading.Lock()

    @contextmanager
    def turn(self, key: str, at_most_s: float) -> Iterator[None]:
        """Wait until it is this thread's turn, but no longer than that. The turn ends with the block."""
        mine = threading.Event()
        with self._mutex:
            queue = self._queues.setdefault(key, deque())
            queue.append(mine)
            if queue[0] is mine:
                mine.set()
        try:
            mine.wait(max(0, at_most_s))
            yield
        finally:
            self._leave(key, mine)

    def _leave(self, key: str, mine: threading.Event) -> None:
        with self._mutex:
            queue = self._queues[key]
            queue.remove(mine)
            if queue:
                queue[0].set()
            else:
                del self._queues[key]
