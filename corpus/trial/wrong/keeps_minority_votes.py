"""Broken: a request with too few votes keeps them until their TTL ends, so split votes keep everybody out."""

import random
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import redlock


class Lock(redlock.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.by_majority():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(random.uniform(0, 2 * self.retry_ms / 1000))


STAGE = replace(redlock.STAGE, lock=Lock)
