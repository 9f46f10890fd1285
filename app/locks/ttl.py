"""SET NX PX gives the lock a time to live (TTL), so Redis frees the lock of a holder that died.

**Problem** A holder that dies never deletes the key: no request gets the lock again, and a restart of the holder does not help.
**Idea** Set the key and its expiry in one command. The store deletes the key for a holder that cannot.
**Source** redis.io, SET, "Patterns".
**Still**
- Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
- The release of a slow holder deletes the lock of the next holder.
**See it**
- `lab run holder_crash --stage ttl`
- `lab run work_outlasts_ttl --stage ttl`
- `lab run slow_holder --stage ttl`
- `lab diff setnx_finally ttl`
"""

import time

from app.lock import Grant, NotAcquired, Stage


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
    follows="setnx_finally",
    store="redis",
    ttl_ms=3000,
    gains="""
        acquires_atomically
        freed_after_crash
        freed_after_hang
        breaks_deadlock
        freed_after_a_failed_release
    """,
    loses="""
        held_to_the_end
        survives_a_freeze
        survives_a_late_freeze
        all_or_nothing
        survives_clock_jump
    """,
)
