"""Broken: a waiter that gives up leaves its ticket in the queue, and all that drew later tickets wait for it."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        number = self.store.incr(f"{self.key}:drawn")
        while int(self.store.get(f"{self.key}:served") or 0) != number - 1:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 3000)

    def release(self):
        self.store.incr(f"{self.key}:served")


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once fair waiters_may_leave"),
)
