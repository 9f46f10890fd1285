"""Sound: the script that grants the lock adds an entry to a stream, and the number of the entry is the fence."""

import time
from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import lua

ACQUIRE = """
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return redis.call('xadd', KEYS[2], 'MAXLEN', 10, '*', 'holder', ARGV[1])
end
return false
"""


class Lock(lua.Lock):
    def run(self, work):
        milliseconds, _, number = self.acquire().partition("-")
        try:
            return work(Grant(self.key, fence=int(milliseconds) * 1000 + int(number)))
        finally:
            self.release()

    def acquire(self):
        acquire_script = self.store.register_script(ACQUIRE)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not (entry := acquire_script([self.key, f"{self.key}:fences"], [self.token, self.ttl_ms])):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        return entry


STAGE = replace(
    lua.STAGE,
    lock=Lock,
    resource="fenced",
    claims=lua.STAGE.claims - claims("breaks_deadlock") | claims("survives_a_freeze survives_a_late_freeze"),
)
