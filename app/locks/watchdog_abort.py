"""When a renewal of the lock fails, or comes too late, the holder stops before it writes.

**Problem** A renewal that fails, or comes late, is reported to nobody: the work goes on.
**Idea** The lease counts from the moment at which the last successful renewal was sent, by the holder's own clock. The work
asks before it writes, and is abandoned when the lease is over.
**Source** Kubernetes, client-go leader election: a leader that has not renewed by its `RenewDeadline` stops.
**Still**
- There is always a moment between the last check and the write: a holder that is stopped in it still writes.
- The lock of a thread that hangs in a living process is renewed for ever.
- Waiters poll: each try is a command, and a free lock stays unused until the sleep of a waiter ends.
**See it**
- `lab run renewal_stalls --stage watchdog_abort`
- `lab run frozen_holder --stage watchdog_abort`
- `lab run frozen_before_write --stage watchdog_abort`
- `lab diff watchdog watchdog_abort`
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
                result = work(Grant(self.key, still_mine=self.still_mine))
            finally:
                was_held = self.release()
            if not was_held:
                raise NotOwner(self.key, self.owner)
            return result

    def still_mine(self):
        return time.monotonic() < self.mine_until_s

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.extended_by(self.acquire_script):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def renew(self):
        return self.extended_by(self.renew_script)

    def extended_by(self, script):
        sent_s = time.monotonic()
        if not script([self.key], [self.owner, self.ttl_ms]):
            return False
        self.mine_until_s = sent_s + self.ttl_ms / 1000
        return True

    def release(self):
        """Return whether the lock was still held."""
        RENEWER.forget(self)  # first: if the release fails, the lock must not be renewed any more
        return self.release_script([self.key], [self.owner]) is not None


STAGE = Stage(
    lock=Lock,
    follows="watchdog",
    store="redis",
    ttl_ms=30_000,
    gains="survives_a_freeze stops_when_lost survives_a_slow_acquire",
)
