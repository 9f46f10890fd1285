"""Broken: each lock lives for three milliseconds, whatever TTL was asked for."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

LIFE_MS = 3


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=LIFE_MS):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
