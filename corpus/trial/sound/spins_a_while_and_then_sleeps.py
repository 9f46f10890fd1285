"""Sound: a waiter asks five times without a pause, and then with one."""

import itertools
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        for tries in itertools.count(1):
            if self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
                return
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            if tries > 5:
                time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
