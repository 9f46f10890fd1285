"""Exercise 2: the key first, its time to live second.

**Idea** The holder sets the key. Then it gives the key a time to live (TTL).
**Task** Mend it: the lock becomes free again, at whichever command its holder dies.
**Check** `lab explore ./my_lock.py --crashes 1`
**Before** `acquires_atomically` breaks.
**After** Nothing breaks.
**Hint** Who deletes the key when its holder dies between the two commands?
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
        while not self.store.set(self.key, "locked", nx=True):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        self.store.pexpire(self.key, self.ttl_ms)

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
        counts_once
        serves_most_requests
        freed_after_crash
    """),
)
