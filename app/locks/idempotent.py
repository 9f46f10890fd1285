"""A call that is sent twice counts once: each acquire and each release has a number.

**Problem** A command that is sent twice counts twice: after an acquire whose reply was lost, one release does not free the lock.
**Idea** Each call has a number that only grows, and the lock stores the number of the last call that changed it. A call with that
number, or with an older one, is not counted again. A release that frees the lock leaves a note for a TTL, so that its copy gets
the same answer, and not the error that the lock was lost.
**Source** Redisson, issue 7367: one `tryLock` is sent twice, and counts as two. For a release, Redisson keeps such a note.
**Still**
- If a copy of an acquire arrives only after the release, it takes the lock for a request that has ended, until the TTL ends.
- Each release leaves a second key for a TTL.
- Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
- Every entry restarts the TTL: a short inner entry can shorten the time that the outer entry relies on.
**See it**
- `lab run rush --stage idempotent`
- `lab run lost_reply --stage idempotent`
- `lab diff request_owner idempotent`
"""

import itertools
import time

from app.lock import Grant, NotAcquired, NotOwner, Stage
from app.locks.request_owner import request_owner

ACQUIRE = """
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    if tonumber(ARGV[3]) > tonumber(redis.call('hget', KEYS[1], 'call') or 0) then
        redis.call('hincrby', KEYS[1], ARGV[1], 1)
        redis.call('hset', KEYS[1], 'call', ARGV[3])
    end
    redis.call('pexpire', KEYS[1], ARGV[2])
    return 1
end
return 0
"""

RELEASE = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return redis.call('get', KEYS[2])
end
if tonumber(ARGV[2]) <= tonumber(redis.call('hget', KEYS[1], 'call')) then
    return 0
end
redis.call('hset', KEYS[1], 'call', ARGV[2])
if redis.call('hincrby', KEYS[1], ARGV[1], -1) == 0 then
    redis.call('del', KEYS[1])
    redis.call('set', KEYS[2], 1, 'px', ARGV[3])
    return 1
end
return 0
"""

CALLS = itertools.count(1)  # an owner makes all its calls in one process


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        with request_owner(self.key) as self.owner:
            self.acquire()
            try:
                result = work(Grant(self.key))
            finally:
                was_held = self.release()
            if not was_held:
                raise NotOwner(self.key, self.owner)
            return result

    def acquire(self):
        call = next(CALLS)  # one for all tries: a try that was refused has changed nothing
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.acquire_script([self.key], [self.owner, self.ttl_ms, call]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        """Return whether the lock was still held."""
        note = f"{self.key}:{self.owner}"
        return self.release_script([self.key, note], [self.owner, next(CALLS), self.ttl_ms]) is not None


STAGE = Stage(
    lock=Lock,
    follows="request_owner",
    store="redis",
    ttl_ms=30_000,
    gains="survives_a_lost_reply",
)
