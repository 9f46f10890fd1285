"""Broken: the number that makes the fences has the TTL of the lock: after each pause it begins again, and writes are refused."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import fencing

ACQUIRE = fencing.ACQUIRE.replace(
    "redis.call('incr', KEYS[2])", "redis.call('incr', KEYS[2]) redis.call('pexpire', KEYS[2], ARGV[2])"
)


class Lock(fencing.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not (fence := acquire_script([self.key, self.fence_key], [self.owner, self.ttl_ms])):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        return int(fence)


STAGE = replace(fencing.STAGE, lock=Lock)
