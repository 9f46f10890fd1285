"""Sound: owner and end of the lease are fields of a hash; the end is by the clock of the client, time.time()."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

ACQUIRE = """
if tonumber(redis.call('hget', KEYS[1], 'ends_ms') or 0) > tonumber(ARGV[2]) then
    return 0
end
redis.call('hset', KEYS[1], 'owner', ARGV[1], 'ends_ms', ARGV[3])
return 1
"""
RELEASE = "return redis.call('hget', KEYS[1], 'owner') == ARGV[1] and redis.call('del', KEYS[1]) or 0"


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.got(int(time.time() * 1000)):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def got(self, now_ms):
        return self.store.register_script(ACQUIRE)([self.key], [self.token, now_ms, now_ms + self.ttl_ms])

    def release(self):
        self.store.register_script(RELEASE)([self.key], [self.token])


STAGE = replace(lua.STAGE, lock=Lock)
