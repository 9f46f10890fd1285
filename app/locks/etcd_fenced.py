"""etcd, and the resource has the last word.

**Problem** A process that is stopped keeps no lease alive: its lease ends, and it wakes up without the lock and goes on.
**Idea** The revision at which a key was created only grows, so every grant has one that is higher than all before it, without a
counter of one's own. It goes with the read and the write; the resource refuses what comes with an older one.
**Still**
- The resource must be able to compare and write in one step: then it could often do without the lock.
- Of two writes by one holder, what was written before it was stopped stays written.
- A holder that asks for its own lock again waits for itself.
**See it**
- `lab run session_loss --stage etcd_fenced`
- `lab run frozen_before_write --stage etcd_fenced`
- `lab diff etcd etcd_fenced`
"""

import threading
import time
from contextlib import suppress
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage, claims


class EtcdFenced:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.queue = f"{key}/"
        self.mine = f"{key}/{uuid4().hex}"
        self.ttl_s = -(-ttl_ms // 1000)  # whole seconds, rounded up
        self.lease = None
        self.wait_ms = wait_ms

    def run(self, work):
        try:
            fence = self.acquire()
            result = work(Grant(self.key, fence))
        finally:
            was_there = self.release()
        if not was_there:
            raise NotOwner(self.key, self.mine)
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        revision = self.enter()
        while True:
            last = self.store.last_two(self.queue, revision)
            if not last or last[0].key != self.mine:  # the lease ended while we waited
                self.release()
                revision = self.enter()
            elif len(last) == 1:
                return revision
            else:
                left_s = max(0.001, deadline_s - time.monotonic())
                self.store.wait_until_deleted(last[1].key, last[1].seen + 1, left_s)
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)

    def enter(self):
        self.lease = self.store.grant(self.ttl_s)
        KEEPER.keep(self)
        return self.store.create(self.mine, self.lease)

    def release(self):
        """Whether the lease still stood. Where nobody answers it ends by itself, as nobody keeps it alive any more."""
        KEEPER.forget(self)
        return self.lease is not None and self.store.revoke(self.lease)


class Keeper:
    def __init__(self):
        self.kept = {}  # lease → [lock, when to keep it alive]
        self.changed = threading.Condition()
        self.nap_s = None  # a third of the shortest TTL seen: who sleeps no longer than that is never late

    def keep(self, lock):
        period_s = lock.ttl_s / 3
        with self.changed:
            self.kept[lock.lease] = [lock, time.monotonic() + period_s]
            if self.nap_s is None:
                threading.Thread(target=self.keep_for_ever, name="etcd", daemon=True).start()
            if self.nap_s is None or period_s < self.nap_s:
                self.nap_s = period_s
                self.changed.notify()

    def forget(self, lock):
        with self.changed:
            self.kept.pop(lock.lease, None)

    def keep_for_ever(self):
        while True:
            now_s = time.monotonic()
            with self.changed:
                due = [entry for entry in self.kept.values() if entry[1] <= now_s]
            for entry in due:
                self.renew(entry)
            with self.changed:
                next_s = min((due_s for _, due_s in self.kept.values()), default=now_s + self.nap_s)
                self.changed.wait(min(self.nap_s, max(0, next_s - time.monotonic())))

    def renew(self, entry):
        lock, entry[1] = entry[0], time.monotonic() + entry[0].ttl_s / 3
        with suppress(lock.store.Error):  # no answer: the next third tries again
            if not lock.store.keep_alive(lock.lease):
                self.forget(lock)


KEEPER = Keeper()

STAGE = Stage(
    lock=EtcdFenced,
    follows="etcd",
    store="etcd",
    resource="fenced",
    ttl_ms=30_000,
    ttl_step_ms=1000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        held_to_the_end
        releases_only_its_own
        releases_atomically
        counts_once
        survives_a_lost_reply
        survives_persisted_restart
        survives_failover
        freed_after_crash
        freed_after_thread_death
        prompt_handover
        fair
        answers_a_try_at_once
        survives_a_freeze
        survives_a_late_freeze
        survives_session_loss
        stops_when_lost
    """),
)
