"""A holder may acquire its lock again (reentrant), and must release it as often.

**Problem** A holder that acquires its own lock again waits for itself.
**Idea** The key is a hash: owner → number of entries. An acquire adds one if the lock is free or already its own. A release
subtracts one and deletes the key at zero. To release a lock that is not held is an error. The owner is the process and thread.
**Source** Redisson, RedissonLock: the same hash and the same two scripts.
**Still**
- Threads are pooled: when a release fails, the next request on that thread re-enters the lock that is left.
- A command that is sent twice counts twice: after an acquire whose reply was lost, one release does not free the lock.
- Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
- Every entry restarts the TTL: a short inner entry can shorten the time that the outer entry relies on.
**See it**
- `lab run rush --stage reentrant`
- `lab run work_outlasts_ttl --stage reentrant`
- `lab run pooled_thread --stage reentrant`
- `lab diff lua reentrant`
"""

import os
import threading
import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage

ACQUIRE = """
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[1], 1)
    redis.call('pexpire', KEYS[1], ARGV[2])
    return 1
end
return 0
"""

RELEASE = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return nil
end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) == 0 then
    redis.call('del', KEYS[1])
    return 1
end
return 0
"""

CLIENT = uuid4().hex


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.owner = f"{CLIENT}:{os.getpid()}:{threading.get_ident()}"
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        self.acquire()
        try:
            result = work(Grant(self.key))
        finally:
            was_held = self.release()
        if not was_held:  # raised after the `finally`: inside it, it would hide the error of work that failed
            raise NotOwner(self.key, self.owner)
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.acquire_script([self.key], [self.owner, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        """Return whether the lock was still held."""
        return self.release_script([self.key], [self.owner]) is not None


STAGE = Stage(
    lock=Lock,
    follows="lua",
    store="redis",
    ttl_ms=30_000,
    gains="reentrant",
    loses="reenters_only_its_own",
)
