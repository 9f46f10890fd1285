"""Broken: gives a number of seconds instead of milliseconds, so the lock lasts for some milliseconds."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms // 1000):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
