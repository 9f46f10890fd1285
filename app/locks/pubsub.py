"""Waiting by subscription: who finds the lock taken sleeps until its release is told, and no longer than it can still live.

**Problem** Waiters still poll: each try is a command, and a free lock stays unused until somebody's sleep ends.
**Idea** The release publishes a message. A waiter subscribes, tries once more, since the release may have come in between,
and then sleeps until a message, at most for the TTL that is left: a holder that dies tells nobody. One connection a replica
listens for all its threads, and a message wakes one of them. Source: Redisson, RedissonLock and LockPubSub.
**Still**
- Every replica is told of each release, and all but one try in vain.
- A process that is stopped renews nothing: it wakes up without the lock and goes on.
- A thread that dies in a living process is renewed for ever.
**See it**
- `lab run rush --stage pubsub`
- `lab run convoy --stage pubsub`
- `lab diff watchdog pubsub`
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
return -redis.call('pttl', KEYS[1])
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
    redis.call('publish', KEYS[2], 'free')
    return 1
end
return 0
"""

CLIENT = uuid4().hex


class Pubsub:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms, lease_ms=None):
        self.store = store
        self.key = key
        self.channel = f"{key}:free"
        self.owner = f"{CLIENT}:{os.getpid()}:{threading.get_ident()}"
        self.lease_ms = lease_ms
        self.ttl_ms = lease_ms or ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.renew_script = store.register_script(RENEW)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        self.acquire()
        if self.lease_ms is None:  # who says for how long is taken at his word
            RENEWER.watch(self)
        result = work(Grant(self.key))
        self.release()
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        message = None
        while (left_ms := self.left_ms()) >= 0:
            wait_s = deadline_s - time.monotonic()
            if wait_s < 0:
                raise NotAcquired(self.key, self.wait_ms)
            if message is None:  # and try again: a release may have come before the subscription
                message = self.store.subscriptions.channel(self.channel)
            else:
                message.wait(min(wait_s, max(left_ms, 1) / 1000))

    def left_ms(self):
        """How long the lock can still live in another's hand; below 0 if it is ours."""
        return -self.acquire_script([self.key], [self.owner, self.ttl_ms])

    def renew(self):
        return self.renew_script([self.key], [self.owner, self.ttl_ms])

    def release(self):
        left = self.release_script([self.key, self.channel], [self.owner])
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
                threading.Thread(target=self.renew_for_ever, name="pubsub", daemon=True).start()
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
    lock=Pubsub,
    follows="watchdog",
    store="redis",
    ttl_ms=30_000,
    lease=True,
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
        survives_persisted_restart
        prompt_handover
    """),
)
