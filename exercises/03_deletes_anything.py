"""Exercise 3: the release deletes what is there.

**Idea** A holder that is done deletes the key.
**Task** Mend it: a holder that comes late does not delete the lock of the next holder.
**Check** `lab explore ./my_lock.py --pauses 1`
**Before** `releases_only_its_own` breaks.
**After** Nothing breaks.
**Hint** The key has a value. How does a holder recognise that the value is its own?
"""

import time

from app.lock import Grant, NotAcquired, Stage, claims


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key))
        finally:
            self.release()

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, "locked", nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.delete(self.key)


STAGE = Stage(
    lock=Lock,
    store="redis",
    ttl_ms=3000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        releases_only_its_own
        counts_once
        serves_most_requests
        freed_after_crash
    """),
)
