"""Exercise 4, solved: two commands, and a moment between them.

**Idea** The holder reads its own token, is stopped, and its lock expires. When it resumes, it deletes the
lock of the next holder.
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
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
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        if self.store.get(self.key) == self.token:
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
        releases_atomically
        counts_once
        serves_most_requests
        freed_after_crash
    """),
)
