"""Wrong: every second request that does not want to wait is put among the waiters all the same, until it has the lock.

The stage ``lua``; if the wait is zero, every second request of a process waits for up to eight seconds. With 24
users and work of 50 ms that is about a second. It then has the lock and does its work. The others are refused at once.
"""

import itertools
from dataclasses import replace

from app.locks import lua

TRIES = itertools.count()


class Lock(lua.Lock):
    def acquire(self):
        if self.wait_ms == 0 and next(TRIES) % 2:
            self.wait_ms = 8000
        super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
