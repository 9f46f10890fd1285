"""The lock is renewed while the work goes on: a thread extends its TTL (a watchdog).

**Problem** Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
**Idea** In each replica, one thread renews all locks that its process holds, every TTL/3, by a script that compares the
owner first. A holder that dies stops renewing, so the TTL still frees its lock.
**Source** Redisson, RedissonBaseLock and `lockWatchdogTimeout`.
**Still**
- A process that is stopped renews nothing: when it resumes, it works on without the lock.
- A renewal that fails, or comes late, is reported to nobody: the work goes on.
- The renewal is easily written wrong: it ends with its first failure, or with the time limit of the acquire.
- A command that is sent twice counts twice, as in `request_owner`.
- The lock of a thread that hangs in a living process is renewed for ever.
- Waiters poll: each try is a command, and a free lock stays unused until the sleep of a waiter ends.
**See it**
- `lab run rush --stage watchdog`
- `lab run work_outlasts_ttl --stage watchdog`
- `lab run renewal_fails_once --stage watchdog`
- `lab run work_hangs --stage watchdog`
- `lab diff request_owner watchdog`
"""

import threading
import time

from app.lock import Grant, NotAcquired, NotOwner, Stage
from app.locks.request_owner import request_owner

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
        return self.renew_script([self.key], [self.owner, self.ttl_ms])

    def release(self):
        """Return whether the lock was still held."""
        RENEWER.forget(self)  # first: if the release fails, the lock must not be renewed any more
        return self.release_script([self.key], [self.owner]) is not None


class Renewer:
    """The thread that renews every lock that this process holds. Later stages import it."""

    def __init__(self):
        self.held = {}  # lock → when to renew it; a request that takes a key twice has two locks here
        self.changed = threading.Condition()
        self.nap_s = None  # a third of the shortest TTL seen: a thread that never sleeps longer than this is never late

    def watch(self, lock):
        """Renew this lock from now on; start the thread with the first lock."""
        period_s = lock.ttl_ms / 3000
        with self.changed:
            self.held[lock] = time.monotonic() + period_s
            if self.nap_s is None:
                threading.Thread(target=self.renew_for_ever, name="watchdog", daemon=True).start()
            if self.nap_s is None or period_s < self.nap_s:
                self.nap_s = period_s
                self.changed.notify()

    def forget(self, lock):
        with self.changed:
            self.held.pop(lock, None)

    def renew_for_ever(self):
        """Renew the locks that are due; then sleep until the next is due, or until a lock with a shorter TTL comes."""
        while True:
            now_s = time.monotonic()
            with self.changed:
                due = [lock for lock, due_s in self.held.items() if due_s <= now_s]
                self.held |= {lock: now_s + lock.ttl_ms / 3000 for lock in due}
            for lock in due:
                if lock in self.held:  # it was not released while this thread renewed others
                    self.renew(lock)
            with self.changed:
                next_s = min(self.held.values(), default=now_s + self.nap_s)
                self.changed.wait(min(self.nap_s, max(0, next_s - time.monotonic())))

    def renew(self, lock):
        try:
            held = lock.renew()
        except lock.store.Error:  # no answer: try again after the next third
            return
        if not held:  # the lock has expired, was released, or belongs to another
            self.forget(lock)


RENEWER = Renewer()

STAGE = Stage(
    lock=Lock,
    follows="request_owner",
    store="redis",
    ttl_ms=30_000,
    lease=True,
    gains="held_to_the_end survives_a_failed_renewal",
    loses="freed_after_hang breaks_deadlock",
)
