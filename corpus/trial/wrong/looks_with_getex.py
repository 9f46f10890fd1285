"""Broken: a waiter looks at the key with GETEX, which gives the key a new TTL at each look."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            while self.store.getex(self.key, px=self.ttl_ms) is not None:
                if time.monotonic() > deadline_s:
                    raise NotAcquired(self.key, self.wait_ms)
                time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
