"""Sound: the key has no TTL; it holds the token and the moment at which the lease ends, by the server's TIME."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
local now = redis.call('time')
local now_ms = now[1] * 1000 + math.floor(now[2] / 1000)
local ends_ms = tonumber(string.match(redis.call('get', KEYS[1]) or '0 ', '^%d+'))
if ends_ms > now_ms then
    return 0
end
redis.call('set', KEYS[1], string.format('%d %s', now_ms + ARGV[2], ARGV[1]))
return 1
"""
RELEASE = """
if string.match(redis.call('get', KEYS[1]) or '', ' (.*)$') == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
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
