"""Broken: a waiter deletes a lock that is older than 30 ms, because its holder has surely died."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

OLD_MS = 30


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if 0 < self.store.pttl(self.key) < self.ttl_ms - OLD_MS:
                self.store.delete(self.key)
                continue
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
