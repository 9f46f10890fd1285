"""Exercise 7: a holder that was stopped works on.

**Idea** The TTL ends the lock of a holder that was stopped. The holder does not learn of it.
**Task** Mend it: a holder that was stopped in its work for longer than the TTL does not write.
**Check** `lab explore ./my_lock.py --pauses 1`
**Before** `survives_a_freeze` breaks.
**After** Nothing breaks.
**Hint** The work asks `Grant.still_mine` before it writes. From which moment does the lease count?
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""


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
            return work(Grant(self.key))
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
    """),
)
