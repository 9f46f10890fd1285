"""Broken: counts its tries, then sets the key, and sets its TTL with one more command. A death in between leaves it for ever."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        self.store.incr(f"{self.key}:tries")
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        self.store.pexpire(self.key, self.ttl_ms)


STAGE = replace(lua.STAGE, lock=Lock)
