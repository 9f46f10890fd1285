"""Detour: the lock expires by a second command: SETNX, and then EXPIRE.

**Problem** A holder that dies never deletes the key: no request gets the lock again, and a restart of the holder does not help.
**Idea** A second command gives the key a time to live (TTL), after the first has set it.
**Still**
- A holder that dies, or fails, between the two commands leaves a key that never expires.
- Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
- The release of a slow holder deletes the lock of the next holder.
**See it**
- `lab run crash_while_acquiring --stage setnx_expire`
- `lab run error_while_acquiring --stage setnx_expire`
- `lab diff setnx setnx_expire`
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
        result = work(Grant(self.key))
        self.release()
        return result

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
    follows="setnx",
    store="redis",
    ttl_ms=3000,
    gains="freed_after_crash freed_after_hang breaks_deadlock freed_after_a_failed_release",
    loses="""
        held_to_the_end
        survives_a_freeze
        survives_a_late_freeze
        all_or_nothing
        survives_clock_jump
    """,
)
