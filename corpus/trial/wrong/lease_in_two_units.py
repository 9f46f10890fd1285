"""Broken: the key holds the end of the lease: the time in seconds, plus the TTL in milliseconds."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import ttl

ACQUIRE = """
if tonumber(redis.call('get', KEYS[1]) or 0) > tonumber(ARGV[1]) then
    return 0
end
redis.call('set', KEYS[1], ARGV[2])
return 1
"""


class Lock(ttl.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.got(time.time()):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def got(self, now_s):
        return self.store.register_script(ACQUIRE)([self.key], [now_s, now_s + self.ttl_ms])


STAGE = replace(ttl.STAGE, lock=Lock)
