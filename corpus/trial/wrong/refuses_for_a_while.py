"""Broken: a process refuses every request in its first minute, to warm up."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

WARM_S = time.monotonic() + 60


class Lock(lua.Lock):
    def acquire(self):
        if time.monotonic() < WARM_S:
            raise NotAcquired(self.key, self.wait_ms)
        super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
