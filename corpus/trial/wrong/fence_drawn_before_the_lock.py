"""Broken: draws its fence before it waits for the lock, so most holders come with a number that is too old."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import fencing, watchdog


class Lock(fencing.Lock):
    def acquire(self):
        fence = self.store.incr(self.fence_key)
        acquire_script = self.store.register_script(watchdog.ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([self.key], [self.owner, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        return fence


STAGE = replace(fencing.STAGE, lock=Lock)
