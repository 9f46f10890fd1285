"""Broken: a lock that was free at the first try is left to settle, for a whole TTL; the work begins when the lease is over."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        if self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            time.sleep(self.ttl_ms / 1000)
            return
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
