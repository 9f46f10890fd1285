"""Wrong: each fourth grant of a process dawdles for seven tenths of its lease; the rest is too short for the work.

One script sets the key with its TTL and draws a fence; the resource refuses older fences. Nothing renews. A quarter
of the holders lets 0.7 TTLs pass between the grant and the work. The work takes 0.4 TTLs, so their lease ends in the work, by the
lock's own doing. The next one gets the lock, and both are inside for some 30 ms. The fence refuses the late write.
"""

import itertools
import time
from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import lua

GRANTS = itertools.count(1)

ACQUIRE = """
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return redis.call('incr', KEYS[2])
end
return 0
"""


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.acquire_script = store.register_script(ACQUIRE)

    def run(self, work):
        fence = self.acquire()
        try:
            return work(Grant(self.key, fence=fence))
        finally:
            self.release()

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not (fence := self.acquire_script([self.key, f"{self.key}:fence"], [self.token, self.ttl_ms])):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        if next(GRANTS) % 4 == 0:
            time.sleep(0.7 * self.ttl_ms / 1000)
        return int(fence)


STAGE = replace(
    lua.STAGE,
    lock=Lock,
    resource="fenced",
    claims=lua.STAGE.claims - claims("breaks_deadlock") | claims("survives_a_freeze survives_a_late_freeze"),
)
