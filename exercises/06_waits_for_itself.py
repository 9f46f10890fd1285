"""Exercise 6: a holder that asks again waits for itself.

**Idea** The token is made for each lock object. A method that has the lock calls a method that takes it.
**Task** Mend it: a holder gets its own lock again, and the lock is free after its last release.
**Check** `lab explore ./my_lock.py --nested`
**Before** `reentrant` breaks.
**After** Nothing breaks.
**Hint** Two things are needed: an owner that both lock objects share, and a count of entries. A hash has both.
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
        reentrant
    """),
)
