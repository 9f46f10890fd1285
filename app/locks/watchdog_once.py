"""Detour: one renewal of the lock fails, and none follows.

**Problem** The renewal is easily written wrong: it ends with its first failure, or with the time limit of the acquire.
**Idea** A timer renews the lock, and a renewal that succeeds sets the next timer. A renewal that fails writes a line to a log,
and sets none.
**Source** Redisson, `scheduleExpirationRenewal`, as one of the documents prints it.
**Still**
- A renewal that fails ends the lock after its TTL, although the next renewal would have come in time.
- The lock of a thread that hangs in a living process is renewed for ever.
**See it**
- `lab run work_outlasts_ttl --stage watchdog_once`
- `lab run renewal_fails_once --stage watchdog_once`
- `lab diff watchdog watchdog_once`
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
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.acquire_script([self.key], [self.owner, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def renew(self):
        try:
            return self.renew_script([self.key], [self.owner, self.ttl_ms])
        except self.store.Error:  # the line for the log would stand here
            return False  # not held: this lock is not renewed again

    def release(self):
        """Return whether the lock was still held."""
        RENEWER.forget(self)  # first: if the release fails, the lock must not be renewed any more
        return self.release_script([self.key], [self.owner]) is not None


STAGE = Stage(
    lock=Lock,
    follows="watchdog",
    store="redis",
    ttl_ms=30_000,
    lease=True,
    loses="survives_a_failed_renewal",
)
