"""Renewal that tells: when a renewal fails, or comes too late, the holder stops before it writes.

**Problem** A renewal that fails, or comes late, is told to nobody: the work goes on.
**Idea** The holder counts its lease from before the last renewal that succeeded was sent, by its own clock; the work asks
before it writes, and is abandoned when the lease is over. A work that fails is no longer renewed.
**Still**
- Between the last look and the write there is always a moment; whoever is stopped in it writes all the same.
- Waiters still poll: each try is a command, and a free lock stays unused until somebody's sleep ends.
**See it**
- `lab run renewal_stalls --stage watchdog_abort`
- `lab run frozen_holder --stage watchdog_abort`
- `lab run frozen_before_write --stage watchdog_abort`
- `lab diff watchdog watchdog_abort`
"""

import os
import threading
import time
from contextlib import suppress
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage, claims

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

CLIENT = uuid4().hex


class WatchdogAbort:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.owner = f"{CLIENT}:{os.getpid()}:{threading.get_ident()}"
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.renew_script = store.register_script(RENEW)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        self.acquire()
        RENEWER.watch(self)
        try:
            result = work(Grant(self.key, still_mine=self.still_mine))
        except BaseException:
            RENEWER.forget(self)
            raise
        self.release()
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
                threading.Thread(target=self.renew_for_ever, name="watchdog_abort", daemon=True).start()
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
    lock=WatchdogAbort,
    follows="watchdog",
    store="redis",
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
        stops_when_lost
        freed_after_thread_death
        survives_persisted_restart
    """),
)
