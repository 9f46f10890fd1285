"""Broken: a semaphore with two permits in the place of a lock."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
if tonumber(redis.call('get', KEYS[1]) or 0) < 2 then
    redis.call('incr', KEYS[1])
    redis.call('pexpire', KEYS[1], ARGV[1])
    return 1
end
return 0
"""


class Lock(lua.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([self.key], [self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.decr(self.key)


STAGE = replace(lua.STAGE, lock=Lock)
