"""Broken: looks whether the key is free, and sets it with a second command."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.store.get(self.key) is not None:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        self.store.set(self.key, self.token, px=self.ttl_ms)


STAGE = replace(lua.STAGE, lock=Lock)
