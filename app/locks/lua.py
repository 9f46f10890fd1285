"""The release is a Lua script: Redis compares the token of the holder and deletes the lock in one step.

**Problem** Comparing and deleting are two commands: between them the lock can expire, and another request can acquire it.
**Idea** Send both as a Lua script: Redis runs no other command until the script has ended.
**Source** redis.io, "Distributed Locks with Redis", "Correct Implementation with a Single Instance".
**Still**
- A holder that acquires its own lock again waits for itself.
- A release that finds the lock expired, or held by another, reports nothing.
- Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
- One lock serves one holder at a time, however many requests wait.
- One store is a single point of failure: a standby that takes over may not know of the lock.
**See it**
- `lab run rush --stage lua`
- `lab run work_outlasts_ttl --stage lua`
- `lab diff uuid lua`
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.release_script = store.register_script(RELEASE)

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
        self.release_script([self.key], [self.token])


STAGE = Stage(
    lock=Lock,
    follows="uuid",
    store="redis",
    ttl_ms=3000,
    gains="releases_atomically",
)
