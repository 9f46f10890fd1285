"""Sound: the token is in a key without TTL, and the lease is a second key that expires: without it the lock is free."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
if redis.call('set', KEYS[2], 'held', 'NX', 'PX', ARGV[2]) then
    redis.call('set', KEYS[1], ARGV[1])
    return 1
end
return 0
"""
RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1], KEYS[2])
end
return 0
"""


class Lock(lua.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([self.key, f"{self.key}:lease"], [self.token, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.register_script(RELEASE)([self.key, f"{self.key}:lease"], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
