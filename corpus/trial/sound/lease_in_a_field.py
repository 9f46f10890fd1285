"""Sound: owner and end of the lease are fields of a hash that is never deleted; the end is by the server's TIME."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
local now = redis.call('time')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
if tonumber(redis.call('hget', KEYS[1], 'ends_ms') or 0) > now_ms then
    return 0
end
redis.call('hset', KEYS[1], 'owner', ARGV[1], 'ends_ms', string.format('%d', now_ms + ARGV[2]))
return 1
"""
RELEASE = """
if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then
    return 0
end
return redis.call('hset', KEYS[1], 'owner', '', 'ends_ms', 0) + 1
"""


class Lock(lua.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([self.key], [self.token, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.register_script(RELEASE)([self.key], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
