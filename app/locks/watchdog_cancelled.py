"""Detour: the time limit of the acquire also ends renewals.

**Problem** The renewal is easily written wrong: it ends with its first failure, or with the time limit of the acquire.
**Idea** The acquire opens a time limit, and closes it when it returns, as is usual. The renewal asks the same limit whether it
may go on. It finds the limit closed before the work begins, and never renews.
**Source** `LockWithTimeout` in one of the documents: Go's `context.WithTimeout`, with `defer cancel()`.
**Still**
- No renewal is ever sent: each one finds that the time limit is over, and its error is dropped.
- Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
**See it**
- `lab run work_outlasts_ttl --stage watchdog_cancelled`
- `lab diff watchdog watchdog_cancelled`
"""

import time

from app.lock import Grant, NotAcquired, NotOwner, Stage
from app.locks.request_owner import request_owner
from app.locks.watchdog import RENEWER

ACQUIRE = """
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[1], 1)
    redis.call('pexpire', KEYS[1], ARGV[2])
    return 1
end
return 0
"""

RENEW = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    return redis.call('pexpire', KEYS[1], ARGV[2])
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


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms, lease_ms=None):
        self.store = store
        self.key = key
        self.lease_ms = lease_ms
        self.ttl_ms = lease_ms or ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.renew_script = store.register_script(RENEW)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        with request_owner(self.key) as self.owner:
            self.acquire()
            if self.lease_ms is None:  # an explicit lease time turns the renewal off
                RENEWER.watch(self)
            try:
                result = work(Grant(self.key))
            finally:
                was_held = self.release()
            if not was_held:
                raise NotOwner(self.key, self.owner)
            return result

    def acquire(self):
        with TimeLimit(self.wait_ms) as self.limit:
            while not self.acquire_script([self.key], [self.owner, self.ttl_ms]):
                if self.limit.over:
                    raise NotAcquired(self.key, self.wait_ms)
                time.sleep(self.retry_ms / 1000)

    def renew(self):
        if self.limit.over:
            raise self.store.Error("the time limit is over")
        return self.renew_script([self.key], [self.owner, self.ttl_ms])

    def release(self):
        """Return whether the lock was still held."""
        RENEWER.forget(self)  # first: if the release fails, the lock must not be renewed any more
        return self.release_script([self.key], [self.owner]) is not None


class TimeLimit:
    """The time limit of a block: ``over`` is true after ``limit_ms``, and from the end of the block on."""

    def __init__(self, limit_ms):
        self.until_s = time.monotonic() + limit_ms / 1000

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.until_s = 0

    @property
    def over(self):
        return time.monotonic() > self.until_s


STAGE = Stage(
    lock=Lock,
    follows="watchdog",
    store="redis",
    ttl_ms=30_000,
    gains="freed_after_hang breaks_deadlock",
    loses="held_to_the_end survives_a_failed_renewal",
)
