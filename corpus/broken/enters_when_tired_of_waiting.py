"""Broken: a request that has waited for 100 ms enters without the lock."""

import time
from dataclasses import replace

from app.locks import lua

PATIENCE_S = 0.1


class Lock(lua.Lock):
    def acquire(self):
        until_s = time.monotonic() + PATIENCE_S
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > until_s:
                return
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
