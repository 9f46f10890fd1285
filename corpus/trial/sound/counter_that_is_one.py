"""Sound: the holder has counted a counter to one. As the stage ttl, it does not promise to delete its own lock only."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import ttl

ACQUIRE = """
if redis.call('incr', KEYS[1]) == 1 then
    return redis.call('pexpire', KEYS[1], ARGV[1])
end
redis.call('decr', KEYS[1])
return 0
"""


class Lock(ttl.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not acquire_script([self.key], [self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(ttl.STAGE, lock=Lock)
