"""Broken: a waiter that gives up sets the served number to its own, so the one behind it goes in although others work."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        number = self.store.incr(f"{self.key}:drawn")
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while int(self.store.get(f"{self.key}:served") or 0) != number - 1:
            if time.monotonic() > deadline_s:
                self.store.set(f"{self.key}:served", number)
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 3000)

    def release(self):
        self.store.incr(f"{self.key}:served")


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once waiters_may_leave"),
)
