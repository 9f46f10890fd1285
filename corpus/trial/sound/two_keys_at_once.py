"""Sound: MSETNX sets the lock and a note of its beginning, or neither, and the release deletes both."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
if redis.call('msetnx', KEYS[1], ARGV[1], KEYS[2], ARGV[3]) == 0 then
    return 0
end
redis.call('pexpire', KEYS[2], ARGV[2])
return redis.call('pexpire', KEYS[1], ARGV[2])
"""
RELEASE = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1], KEYS[2]) or 0"


class Lock(lua.Lock):
    def acquire(self):
        keys = [self.key, f"{self.key}:since"]
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script(keys, [self.token, self.ttl_ms, time.monotonic()]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.register_script(RELEASE)([self.key, f"{self.key}:since"], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
