"""Sound: a waiter waits by BLPOP for the signal of a release, for 0.3 s at most, and then asks again."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('del', KEYS[1], KEYS[2])
    redis.call('rpush', KEYS[2], 'free')
    return 1
end
return 0
"""
STEP_S = 0.3


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                raise NotAcquired(self.key, self.wait_ms)
            self.store.blpop([f"{self.key}:signal"], timeout=min(left_s, STEP_S))

    def release(self):
        self.store.register_script(RELEASE)([self.key, f"{self.key}:signal"], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
