"""Broken: a waiter sleeps for as long as the key lives, but takes the milliseconds for seconds."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(max(0, self.store.pttl(self.key)))


STAGE = replace(lua.STAGE, lock=Lock)
