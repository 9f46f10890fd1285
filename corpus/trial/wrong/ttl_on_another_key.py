"""Broken: sets the key, and gives the TTL to a key with a slightly different name, which does not exist."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
if redis.call('setnx', KEYS[1], ARGV[1]) == 1 then
    redis.call('pexpire', KEYS[1] .. ':lock', ARGV[2])
    return 1
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


STAGE = replace(lua.STAGE, lock=Lock)
