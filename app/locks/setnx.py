"""A key in Redis is the lock: SET NX succeeds for one request only, and the others try again.

**Problem** A mutex works in one process only: requests at two replicas still overwrite each other's increments.
**Idea** All replicas share one key in a store. A request sets the key only if it does not exist; otherwise it sleeps and
tries again. When the work is done, the holder deletes the key.
**Source** document 1; redis.io, SETNX, "Locking with SETNX", there with a time stamp as value and GETSET to take over old locks.
**Still**
- A holder that dies never deletes the key: no request gets the lock again, and a restart of the holder does not help.
- Waiters poll: each try is a command, and a free lock stays unused until the sleep of a waiter ends.
- The retry is easily written wrong: without an `else`, a request that had to wait does the work once for every try.
- Work that fails leaves the key behind: the release is not in a `finally`.
**See it**
- `lab run rush --stage setnx`
- `lab run holder_crash --stage setnx`
- `lab run work_fails --stage setnx`
- `lab diff local setnx`
"""

import time

from app.lock import Grant, NotAcquired, Stage


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
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

    def release(self):
        self.store.delete(self.key)


STAGE = Stage(
    lock=Lock,
    follows="local",
    store="redis",
    gains="""
        exclusive
        survives_a_freeze
        survives_a_late_freeze
        survives_persisted_restart
        all_or_nothing
        survives_clock_jump
        waiters_may_leave
        freed_after_a_lost_release
    """,
)
