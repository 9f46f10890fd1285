"""Sound: a script sets the key and lets it expire by PEXPIREAT, at a moment by the clock of the client."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = "return redis.call('setnx', KEYS[1], ARGV[1]) == 1 and redis.call('pexpireat', KEYS[1], ARGV[2]) or 0"


class Lock(lua.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([self.key], [self.token, int(time.time() * 1000) + self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock)
