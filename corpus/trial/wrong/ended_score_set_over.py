"""Broken: the score of a sorted set is the end of the lease; each waiter that sees a score in the past sets its own over it."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import ttl


class Lock(ttl.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.got():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def got(self):
        now_s = time.time()
        ends_s = now_s + self.ttl_ms / 1000
        if self.store.zadd(self.key, {"lease": ends_s}, nx=True):
            return True
        seen_s = self.store.zscore(self.key, "lease")
        if seen_s is None or seen_s > now_s:
            return False
        self.store.zadd(self.key, {"lease": ends_s}, xx=True)
        return True


STAGE = replace(ttl.STAGE, lock=Lock)
