"""Grant a mutex for each key to the threads of one process, in the order in which they came.

``threading.Lock`` also lets only one thread in, but it promises no order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class FairMutex:
    """For each key a queue of waiting threads; the head of the queue holds the mutex."""

    def __init__(self) -> None:
        self._queues: dict[str, deque[threading.Event]] = {}
        self._mutex = threading.Lock()

    @contextmanager
    def hold(self, key: str, at_most_s: float) -> Iterator[None]:
        """Wait for the mutex, but no longer than ``at_most_s``: then the block runs without it. Leave the queue at the end."""
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
