"""Broken: takes the old token out by SET GET, and puts it back if there was one; a release in between finds nothing."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while (holder := self.store.set(self.key, self.token, get=True, px=self.ttl_ms)) is not None:
            self.store.set(self.key, holder, px=self.ttl_ms)
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
