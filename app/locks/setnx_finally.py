"""Work that fails frees the lock at once: the release is in a `finally`.

**Problem** Work that fails leaves the key behind: the release is not in a `finally`.
**Idea** `try … finally`: the release is sent whether the work ends or fails, and the error of the work goes on to the caller. The
acquire stands before the `try`: a request that did not get the lock must not release it.
**Source** Java, the documentation of `java.util.concurrent.locks.Lock`: `unlock()` in a `finally`.
**Still**
- A holder that dies never deletes the key: no request gets the lock again, and a restart of the holder does not help.
- A thread that hangs raises no error: the `finally` is never reached, and the key stays.
- Waiters poll: each try is a command, and a free lock stays unused until the sleep of a waiter ends.
**See it**
- `lab run work_fails --stage setnx_finally`
- `lab run work_hangs --stage setnx_finally`
- `lab run holder_crash --stage setnx_finally`
- `lab diff setnx setnx_finally`
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
        try:
            return work(Grant(self.key))
        finally:  # if the release fails after the work did, Python keeps the error of the work as its context
            self.release()

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
    follows="setnx",
    store="redis",
    gains="freed_after_failure",
)
