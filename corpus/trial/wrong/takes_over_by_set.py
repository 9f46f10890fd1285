"""Broken: a waiter that has waited for a whole TTL sets the key over, and does not look whether the holder is another by now."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        began_s = time.monotonic()
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            waited_s = time.monotonic() - began_s
            if waited_s > self.wait_ms / 1000:
                raise NotAcquired(self.key, self.wait_ms)
            if waited_s > self.ttl_ms / 1000:
                self.store.set(self.key, self.token, px=self.ttl_ms)
                return
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
