"""Broken: writes its token over whatever is there, and enters if it then reads its own token."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while True:
            self.store.set(self.key, self.token, px=self.ttl_ms)
            if self.store.get(self.key) == self.token:
                return
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
