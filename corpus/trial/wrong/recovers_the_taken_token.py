"""Broken: a waiter that gets no token for a second takes the holder for dead, and moves the token back to the free ones."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx

FILL = """
if redis.call('set', KEYS[1] .. ':filled', 'yes', 'NX') then
    redis.call('rpush', KEYS[1] .. ':free', 'token')
end
return 1
"""


class Lock(setnx.Lock):
    def acquire(self):
        self.free, self.taken = f"{self.key}:free", f"{self.key}:taken"
        self.store.register_script(FILL)([self.key], [])
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.store.brpoplpush(self.free, self.taken, timeout=1) is None:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            self.store.rpoplpush(self.taken, self.free)

    def release(self):
        self.store.rpoplpush(self.taken, self.free)


STAGE = replace(setnx.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive held_to_the_end counts_once"))
