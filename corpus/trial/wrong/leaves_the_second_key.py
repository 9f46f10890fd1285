"""Broken: MSETNX sets the lock and a note, and the release deletes the lock only: nobody gets in before the note has ended."""

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


class Lock(lua.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([self.key, f"{self.key}:since"], [self.token, self.ttl_ms, "now"]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
