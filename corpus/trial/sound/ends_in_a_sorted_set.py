"""Sound: the holder is the one member of a sorted set, under another name; its score is the end of its lease."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
local now = redis.call('time')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
redis.call('zremrangebyscore', KEYS[1], '-inf', string.format('%d', now_ms))
if redis.call('zcard', KEYS[1]) > 0 then
    return 0
end
return redis.call('zadd', KEYS[1], string.format('%d', now_ms + ARGV[2]), ARGV[1])
"""


class Lock(lua.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([f"{self.key}:ends"], [self.token, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.zrem(f"{self.key}:ends", self.token)


STAGE = replace(lua.STAGE, lock=Lock)
