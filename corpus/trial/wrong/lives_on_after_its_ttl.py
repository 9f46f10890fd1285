"""Broken: the key lives for 800 ms longer than its TTL, and each fourth release of a process takes 600 ms."""

import itertools
import time
from dataclasses import replace

from app.locks import lua

GRACE_MS = 800
RELEASES = itertools.count(1)


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms + GRACE_MS, wait_ms, retry_ms)

    def release(self):
        if next(RELEASES) % 4 == 0:
            time.sleep(0.6)
        return super().release()


STAGE = replace(lua.STAGE, lock=Lock)
