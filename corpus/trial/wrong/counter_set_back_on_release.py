"""Broken: a counter that must be 1; a waiter takes its own one back, but the release sets the counter to 0 for all."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.store.incr(self.key) != 1:
            self.store.decr(self.key)
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.set(self.key, 0)


STAGE = replace(setnx.STAGE, lock=Lock)
