"""Broken: a waiter deletes a lock without TTL after two seconds, because its holder must have died."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import setnx

PATIENCE_S = 2


class Lock(setnx.Lock):
    def acquire(self):
        began_s = time.monotonic()
        while not self.store.set(self.key, "locked", nx=True):
            waited_s = time.monotonic() - began_s
            if waited_s > self.wait_ms / 1000:
                raise NotAcquired(self.key, self.wait_ms)
            if waited_s > PATIENCE_S and self.store.ttl(self.key) == -1:
                self.store.delete(self.key)
            else:
                time.sleep(self.retry_ms / 1000)


STAGE = replace(setnx.STAGE, lock=Lock)
