"""Grant a mutex for each key to the threads of one process; a thread can hand the lock that it holds over to the next one.

The threads queue in the order in which they came. A thread that leaves can hand over a lock that it has taken from outside,
such as one in a store, to the next thread of the queue. The next thread has it at once, and no other process notices. The number
of hand-overs in a row is limited, because other processes wait for the same lock. ``fair_mutex.py`` is the queue alone.

Source: D. Dice, V. J. Marathe, N. Shavit, "Lock Cohorting" (PPoPP 2012, TOPC 2015): the local lock of a cohort, which knows
whether a thread waits, and passes the global lock on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from app.lock import NotAcquired


@dataclass(eq=False)
class Turn:
    """The place of one thread in the queue of a key; its turn has come when it is the head."""

    mutex: CohortMutex
    key: str
    has_come: threading.Event = field(default_factory=threading.Event)
    # the lock that the thread has taken from outside, or that was handed over to it; None without one
    held: Any = None
    # how often this lock was handed over since it was taken from outside
    handed_over: int = 0
    # whether a thread of this process had its turn just before
    waited: bool = False

    def hand_over(self) -> bool:
        """End this turn, and hand the lock over to the next thread. Return False, and do nothing, if no thread may get it."""
        return self.mutex.hand_over(self)


class CohortMutex:
    """For each key a queue of waiting threads; the head of the queue has its turn."""

    def __init__(self, most: int) -> None:
        """most: the largest number of hand-overs in a row."""
        self.most = most
        self._queues: dict[str, deque[Turn]] = {}
        self._mutex = threading.Lock()

    @contextmanager
    def turn(self, key: str, wait_ms: float) -> Iterator[Turn]:
        """Wait for a turn; it ends with the block, or with the hand-over. Raises NotAcquired if it does not come in time."""
        mine = self.join(key)
        try:
            mine.has_come.wait(wait_ms / 1000)
            if not self._is_head(mine):  # checked once more: the lock may have been handed over just now
                raise NotAcquired(key, int(wait_ms))
            yield mine
        finally:
            self.leave(mine)

    def held(self, key: str) -> Any:
        """Return the lock that the head of a queue holds. Only the head itself can rely on it."""
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

    def join(self, key: str) -> Turn:
        """Take a place at the end of a queue, and return it."""
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

    def leave(self, turn: Turn) -> None:
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
