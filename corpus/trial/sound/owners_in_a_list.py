"""Sound: each entry of the holder adds its name to a list, and each release takes one away: the last one frees the lock."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import request_owner

ACQUIRE = """
if (redis.call('lindex', KEYS[1], 0) or ARGV[1]) ~= ARGV[1] then
    return 0
end
redis.call('rpush', KEYS[1], ARGV[1])
return redis.call('pexpire', KEYS[1], ARGV[2])
"""
RELEASE = """
if redis.call('lindex', KEYS[1], 0) ~= ARGV[1] then
    return nil
end
redis.call('lpop', KEYS[1])
return redis.call('llen', KEYS[1])
"""


class Lock(request_owner.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([self.key], [self.owner, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        return self.store.register_script(RELEASE)([self.key], [self.owner]) is not None


STAGE = replace(request_owner.STAGE, lock=Lock)
