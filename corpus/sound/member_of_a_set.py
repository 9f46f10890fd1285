"""Sound: the lock is the one member of a set: SADD answers 1 to the request that adds it."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.sadd(self.key, "held"):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.srem(self.key, "held")


STAGE = replace(setnx.STAGE, lock=Lock)
