"""Grant a mutex for each key to the threads of one process, in the order in which they came.

``threading.Lock`` also lets only one thread in, but it promises no order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.cohort_mutex import CohortMutex


class FairMutex:
    """For each key a queue of waiting threads; the head of the queue holds the mutex."""

    def __init__(self) -> None:
        self._queue = CohortMutex(most=0)

    @contextmanager
    def hold(self, key: str, at_most_s: float) -> Iterator[None]:
        """Wait for the mutex, but no longer than ``at_most_s``: then the block runs without it. Leave the queue at the end."""
        mine = self._queue.join(key)
        try:
            mine.has_come.wait(max(0, at_most_s))
            yield
        finally:
            self._queue.leave(mine)
