"""A token of one's own: look whose lock it is before deleting it.

**Problem** A slow holder's release deletes the lock of whoever came after it.
**Idea** The value is a random token (UUID); the release reads it and deletes the key only if the token is its own.
**Still**
- Looking and deleting are two commands: the lock can expire and change hands in between.
- Work that outlasts the TTL goes on without the lock, beside the next holder.
**See it**
- `lab run slow_holder --stage uuid`
- `lab run work_outlasts_ttl --stage uuid`
- `lab diff ttl uuid`
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims


class UUID:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        self.acquire()
        result = work(Grant(self.key))
        self.release()
        return result

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
    lock=UUID,
    follows="ttl",
    store="redis",
    ttl_ms=3000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        releases_only_its_own
        counts_once
        answers_a_try_at_once
        freed_after_crash
        freed_after_thread_death
        breaks_deadlock
        survives_persisted_restart
    """),
)
