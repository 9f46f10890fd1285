"""Exercise 10: each replica counts its fences for itself.

**Idea** Each grant has a number. The resource refuses a write with an older number than it has seen.
**Task** Mend it: the numbers grow over all replicas, so that a write that comes too late is refused.
**Check** `lab explore ./my_lock.py --pauses 1`
**Before** `survives_a_freeze` and `survives_a_late_freeze` break.
**After** Nothing breaks.
**Hint** Let the script that sets the key make the number.
"""

import time
from itertools import count
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""

FENCES = count(1)


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key, fence=next(FENCES)))
        finally:
            self.release()

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.release_script([self.key], [self.token])


STAGE = Stage(
    lock=Lock,
    store="redis",
    resource="fenced",
    ttl_ms=3000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        releases_only_its_own
        releases_atomically
        counts_once
        serves_most_requests
        freed_after_crash
        survives_a_freeze
        survives_a_late_freeze
    """),
)
