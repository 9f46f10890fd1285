"""Broken: takes the shared side of a lock of readers and writers, and writes."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ENTER = """
if redis.call('hexists', KEYS[1], 'writer') == 1 then
    return 0
end
redis.call('hset', KEYS[1], ARGV[1], 'reader')
redis.call('pexpire', KEYS[1], ARGV[2])
return 1
"""


class Lock(lua.Lock):
    def acquire(self):
        enter_script = self.store.register_script(ENTER)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not enter_script([self.key], [self.token, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.hdel(self.key, self.token)


STAGE = replace(lua.STAGE, lock=Lock)
