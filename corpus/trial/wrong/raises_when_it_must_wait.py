"""Broken: the code of a waiter was never run: it calls a method that the store does not have."""

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
            self.store.listening(f"{self.key}:free").wait(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
