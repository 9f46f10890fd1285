"""Sound: one token goes from a list of free ones to a list of taken ones by BLMOVE, and back by LMOVE. It has no TTL."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx

FILL = "return redis.call('setnx', KEYS[2], 'yes') == 1 and redis.call('rpush', KEYS[1], 'token') or 0"


class Lock(setnx.Lock):
    def acquire(self):
        self.free, self.taken = f"{self.key}:free", f"{self.key}:taken"
        self.store.register_script(FILL)([self.free, f"{self.key}:filled"], [])
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.blmove(self.free, self.taken, timeout=0.5):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)

    def release(self):
        self.store.lmove(self.taken, self.free)


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once survives_a_freeze survives_a_late_freeze"),
)
