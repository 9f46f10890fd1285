"""Sound: both scripts answer with words, and the word for no is as true as the word for yes."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = "return redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 'YES' or 'NO'"

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    redis.call('del', KEYS[1])
    return 'FREED'
end
return 'NOT YOURS'
"""


class Lock(lua.Lock):
    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while acquire_script([self.key], [self.token, self.ttl_ms]) != "YES":
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.register_script(RELEASE)([self.key], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
