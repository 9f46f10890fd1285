"""Sound: the pauses of a waiter double up to 0.2 s, and each is drawn between zero and that by random.SystemRandom."""

import random
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

CHANCE = random.SystemRandom()
LONGEST_S = 0.2


class Lock(lua.Lock):
    def acquire(self):
        deadline_s, pause_s = time.monotonic() + self.wait_ms / 1000, self.retry_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(min(left_s, CHANCE.uniform(0, pause_s)))
            pause_s = min(LONGEST_S, 2 * pause_s)


STAGE = replace(lua.STAGE, lock=Lock)
