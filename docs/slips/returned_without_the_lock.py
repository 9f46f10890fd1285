"""Slip: the wait for the lock is interrupted, and `lock()` returns as if it had the lock.

**Idea** Whatever ends the wait is caught, and the method returns. Here the end of the patience stands for the interrupt.
**See it**
- `lab explore docs/slips/returned_without_the_lock.py`
- `lab run rush --stage docs/slips/returned_without_the_lock.py --wait-ms 100`
"""

from contextlib import suppress
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        with suppress(NotAcquired):  # in Java: catch (InterruptedException e) { Thread.currentThread().interrupt(); }
            super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
