"""Broken: after a refusal the process takes the lock for held for a whole TTL, and refuses its next requests without asking."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

HELD_UNTIL_S = {}  # by key


class Lock(lua.Lock):
    def acquire(self):
        if time.monotonic() < HELD_UNTIL_S.get(self.key, 0):
            raise NotAcquired(self.key, self.wait_ms)
        if not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            HELD_UNTIL_S[self.key] = time.monotonic() + self.ttl_ms / 1000
            super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
