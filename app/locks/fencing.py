"""Each grant of the lock has a number that only grows, and the resource refuses a write with an older one.

**Problem** A process that is stopped renews nothing: when it resumes, it works on without the lock.
**Idea** The script that grants the lock also makes a new number. The resource keeps the highest number that it has seen, at
reads and at writes. In the same step it refuses a write with an older number. So the resource prevents what the lock cannot.
**Source** M. Kleppmann, "How to do distributed locking" (2016).
**Still**
- The resource checks each write alone: if a holder is stopped between its two writes, the first stays and the second is refused.
- A standby that lacks only the last grant takes over and repeats the grant's number: the resource accepts both holders.
- A store that comes back without its data counts its fences from one again, and the resource refuses every new holder.
- The resource has to take part: it must keep a number, compare it and write, all in one step.
- The lock of a thread that hangs in a living process is renewed for ever.
**See it**
- `lab run frozen_before_write --stage fencing`
- `lab run frozen_between_writes --stage fencing`
- `lab run failover_last_grant --stage fencing`
- `lab run fence_restart --stage fencing`
- `lab diff watchdog fencing`
"""

import time

from app.lock import Grant, NotAcquired, NotOwner, Stage
from app.locks.request_owner import request_owner
from app.locks.watchdog import RENEWER

ACQUIRE = """
if redis.call('exists', KEYS[1]) == 0 then
    redis.call('incr', KEYS[2])
elseif redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return 0
end
redis.call('hincrby', KEYS[1], ARGV[1], 1)
redis.call('pexpire', KEYS[1], ARGV[2])
return redis.call('get', KEYS[2])
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
        self.fence_key = f"{key}:fence"
        self.lease_ms = lease_ms
        self.ttl_ms = lease_ms or ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.renew_script = store.register_script(RENEW)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        with request_owner(self.key) as self.owner:
            fence = self.acquire()
            if self.lease_ms is None:  # an explicit lease time turns the renewal off
                RENEWER.watch(self)
            try:
                result = work(Grant(self.key, fence=fence, owner=self.owner))
            finally:  # also after a refusal: the lock may still be held
                was_held = self.release()
            if not was_held:
                raise NotOwner(self.key, self.owner)
            return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not (fence := self.acquire_script([self.key, self.fence_key], [self.owner, self.ttl_ms])):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        return int(fence)

    def renew(self):
        return self.renew_script([self.key], [self.owner, self.ttl_ms])

    def release(self):
        """Return whether the lock was still held."""
        RENEWER.forget(self)  # first: if the release fails, the lock must not be renewed any more
        return self.release_script([self.key], [self.owner]) is not None


STAGE = Stage(
    lock=Lock,
    follows="watchdog",
    store="redis",
    resource="fenced",
    ttl_ms=30_000,
    gains="""
        survives_a_freeze
        survives_a_late_freeze
        survives_a_delayed_write
        stops_when_lost
        survives_clock_jump
        survives_a_slow_acquire
    """,
)
