"""Broken: tries three times, and then goes in whether or not it has the lock."""

import time
from dataclasses import replace

from app.locks import lua

TRIES = 3


class Lock(lua.Lock):
    def acquire(self):
        for _ in range(TRIES):
            if self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
                return
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
