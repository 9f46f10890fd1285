"""A mutex by key for the threads of one process, in which a thread can hand over the lock that it holds.

It is a queue as in ``fair_mutex.py``. But a thread that leaves can hand over what it has taken from outside, such as a lock
in a store, to the next thread of the queue. The next thread has it at once, and no other process learns of it. The number of
hand-overs in a row is limited, because other processes wait for the same thing.

Source: D. Dice, V. J. Marathe, N. Shavit, "Lock Cohorting" (PPoPP 2012, TOPC 2015): the local lock of a cohort, which knows
whether a thread waits, and passes the global lock on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from app.lock import NotAcquired


class Turn:
    """The place of one thread in the queue of a key; its turn has come when it is the head."""

    def __init__(self, mutex: CohortMutex, key: str) -> None:
        self.mutex = mutex
        self.key = key
        self.has_come = threading.Event()
        # the lock that the thread has taken from outside, or was handed over; None: none
        self.held: Any = None
        # how often it was handed over since it was taken from outside
        self.handed_over = 0
        # whether a thread of this process had its turn just before
        self.waited = False

    def hand_over(self) -> bool:
        """End this turn, and hand over what it holds to the next thread. Return False if that cannot be, and nothing was done."""
        return self.mutex.hand_over(self)


class CohortMutex:
    """For each key a queue of waiting threads; the head of the queue has its turn."""

    def __init__(self, most: int) -> None:
        """Take how often at most something is handed over in a row."""
        self.most = most
        self._queues: dict[str, deque[Turn]] = {}
        self._mutex = threading.Lock()

    @contextmanager
    def turn(self, key: str, wait_ms: float) -> Iterator[Turn]:
        """Wait for a turn; it ends with the block, or with the hand-over. Raises NotAcquired if it does not come in time."""
        mine = self._join(key)
        try:
            mine.has_come.wait(wait_ms / 1000)
            if not self._is_head(mine):  # asked once more: it may have been handed something just now
                raise NotAcquired(key, int(wait_ms))
            yield mine
        finally:
            self._leave(mine)

    def held(self, key: str) -> Any:
        """Return what the head of a queue holds. Only the head itself can rely on it."""
        with self._mutex:
            return self._queues[key][0].held

    def hand_over(self, turn: Turn) -> bool:
        with self._mutex:
            queue = self._queues[turn.key]
            if len(queue) < 2 or turn.handed_over >= self.most:
                return False
            after = queue[1]
            after.held, after.handed_over = turn.held, turn.handed_over + 1
            self._next(queue)
            return True

    def _join(self, key: str) -> Turn:
        mine = Turn(self, key)
        with self._mutex:
            queue = self._queues.setdefault(key, deque())
            queue.append(mine)
            if queue[0] is mine:
                mine.has_come.set()
        return mine

    def _is_head(self, turn: Turn) -> bool:
        with self._mutex:
            return self._queues[turn.key][0] is turn

    def _leave(self, turn: Turn) -> None:
        """Leave the queue, unless a hand-over has ended the turn."""
        with self._mutex:
            queue = self._queues.get(turn.key, deque())
            if queue and queue[0] is turn:
                self._next(queue)
            elif turn in queue:
                queue.remove(turn)
            if not queue:
                self._queues.pop(turn.key, None)

    def _next(self, queue: deque[Turn]) -> None:
        """Let the turn of the next thread come."""
        queue.popleft()
        if queue:
            queue[0].waited = True
            queue[0].has_come.set()
