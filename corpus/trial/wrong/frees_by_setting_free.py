"""Broken: the release sets the key to "free", also the key of another holder."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
if (redis.call('get', KEYS[1]) or 'free') ~= 'free' then
    return 0
end
redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
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
        self.store.set(self.key, "free")


STAGE = replace(lua.STAGE, lock=Lock)
