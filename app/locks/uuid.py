"""A holder deletes only its own lock: its value is a random token, which the release compares first.

**Problem** The release of a slow holder deletes the lock of the next holder.
**Idea** The value of the key is a random token (UUID). The release reads the value, and deletes the key only if the token is
its own.
**Source** redis.io, SET, "Patterns": a value that nobody can guess.
**Still**
- Comparing and deleting are two commands: between them the lock can expire, and another request can acquire it.
- Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
**See it**
- `lab run slow_holder --stage uuid`
- `lab run work_outlasts_ttl --stage uuid`
- `lab diff ttl uuid`
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage


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
    follows="ttl",
    store="redis",
    ttl_ms=3000,
    gains="releases_only_its_own reenters_only_its_own",
)
