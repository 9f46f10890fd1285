"""Broken: the key holds the moment at which it ends. Waiters that see an ended moment delete the key, also of a new holder."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import ttl


class Lock(ttl.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, time.time() + self.ttl_ms / 1000, nx=True):
            ends_s = self.store.get(self.key)
            if ends_s is not None and float(ends_s) < time.time():
                self.store.delete(self.key)
                continue
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(ttl.STAGE, lock=Lock)
