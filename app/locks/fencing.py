"""A fence: each grant has a number that only grows, and the resource refuses whoever comes with an older one.

**Problem** A process that is stopped renews nothing: it wakes up without the lock and goes on.
**Idea** The script that grants also mints a number. The resource keeps the highest it has seen, at a read as at a write, and
in the same step refuses a write with an older one: what the lock cannot prevent, the resource does.
**Still**
- The fence guards each write and not the work: of two writes around a freeze the first stands and the second is refused.
- A store that comes back with nothing counts its fences from the beginning, and the resource refuses everybody.
- The resource has to take part: it must keep a number, compare it and write in one step.
- A thread that dies in a living process is renewed for ever.
**See it**
- `lab run frozen_before_write --stage fencing`
- `lab run frozen_between_writes --stage fencing`
- `lab run fence_restart --stage fencing`
- `lab diff watchdog fencing`
"""

import os
import threading
import time
from contextlib import suppress
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Refused, Stage, claims

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

CLIENT = uuid4().hex


class Fencing:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.fence_key = f"{key}:fence"
        self.owner = f"{CLIENT}:{os.getpid()}:{threading.get_ident()}"
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.renew_script = store.register_script(RENEW)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        fence = self.acquire()
        RENEWER.watch(self)
        try:
            result = work(Grant(self.key, fence=fence))
        except Refused:  # the lock may be ours all the same
            with suppress(NotOwner):
                self.release()
            raise
        self.release()
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
        left = self.release_script([self.key], [self.owner])
        if left != 0:  # the last hold is gone, by this release or before it
            RENEWER.forget(self)
        if left is None:
            raise NotOwner(self.key, self.owner)


class Renewer:
    def __init__(self):
        self.held = {}  # (key, owner) → [lock, when to renew it]
        self.changed = threading.Condition()
        self.nap_s = None  # a third of the shortest TTL seen: who sleeps no longer than that is never late

    def watch(self, lock):
        period_s = lock.ttl_ms / 3000
        with self.changed:
            self.held[lock.key, lock.owner] = [lock, time.monotonic() + period_s]
            if self.nap_s is None:
                threading.Thread(target=self.renew_for_ever, name="fencing", daemon=True).start()
            if self.nap_s is None or period_s < self.nap_s:
                self.nap_s = period_s
                self.changed.notify()

    def forget(self, lock):
        with self.changed:
            self.held.pop((lock.key, lock.owner), None)

    def renew_for_ever(self):
        while True:
            now_s = time.monotonic()
            with self.changed:
                due = [entry for entry in self.held.values() if entry[1] <= now_s]
            for entry in due:
                self.renew(entry)
            with self.changed:
                next_s = min((due_s for _, due_s in self.held.values()), default=now_s + self.nap_s)
                self.changed.wait(min(self.nap_s, max(0, next_s - time.monotonic())))

    def renew(self, entry):
        lock, entry[1] = entry[0], time.monotonic() + entry[0].ttl_ms / 3000
        with suppress(lock.store.Error):  # no answer: the next third tries again
            if not lock.renew():
                self.forget(lock)  # gone: expired, released, or another's


RENEWER = Renewer()

STAGE = Stage(
    lock=Fencing,
    follows="watchdog",
    store="redis",
    resource="fenced",
    ttl_ms=30_000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        held_to_the_end
        releases_only_its_own
        releases_atomically
        counts_once
        answers_a_try_at_once
        freed_after_crash
        reentrant
        survives_a_freeze
        survives_a_late_freeze
        stops_when_lost
        survives_store_restart
        survives_persisted_restart
        survives_failover
        survives_clock_jump
    """),
)
