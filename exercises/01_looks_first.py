"""Exercise 1: it looks, and then it sets.

**Idea** A waiter looks until the key is gone. Then it sets the key.
**Task** Mend it: no order of events lets two clients in.
**Check** `lab explore ./my_lock.py --pauses 0`
**Before** `exclusive` breaks.
**After** Nothing breaks.
**Hint** What can come between the look and the setting? Redis has an option of SET that does both.
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
        while self.store.get(self.key):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        self.store.set(self.key, "locked", px=self.ttl_ms)

    def release(self):
        self.store.delete(self.key)


STAGE = Stage(
    lock=Lock,
    store="redis",
    ttl_ms=3000,
    claims=claims("""
        exclusive_in_process
        exclusive
        counts_once
        serves_most_requests
    """),
)
