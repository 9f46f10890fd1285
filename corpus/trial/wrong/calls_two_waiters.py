"""Broken: a release calls two waiters, because one of them may have given up; each of the two takes the call for the lock."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('rpush', KEYS[2], 'go', 'go')
    return redis.call('del', KEYS[1])
end
return 0
"""
STEP_S = 0.5


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise NotAcquired(self.key, self.wait_ms)
            if self.store.blpop([f"{self.key}:calls"], timeout=min(left_s, STEP_S)):
                self.store.set(self.key, self.token, px=self.ttl_ms)
                return

    def release(self):
        self.store.register_script(RELEASE)([self.key, f"{self.key}:calls"], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
