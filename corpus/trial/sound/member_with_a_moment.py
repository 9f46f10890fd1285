"""Sound: ZADD NX adds the one member of a sorted set; the score is the time of the grant, for people. It has no TTL."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.zadd(self.key, {"held": time.time()}, nx=True):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.zrem(self.key, "held")


STAGE = replace(setnx.STAGE, lock=Lock)
