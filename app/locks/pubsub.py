"""A waiter sleeps until the release is announced: Redis publishes it, and nobody polls.

**Problem** Waiters poll: each try is a command, and a free lock stays unused until the sleep of a waiter ends.
**Idea** The release publishes a message. A waiter subscribes and tries once more, because a release may have come just
before. Then it sleeps until a message comes, but at most for the rest of the TTL, because a holder that dies publishes nothing.
In each replica one connection listens for all threads, and a message wakes one of them.
**Source** Redisson, RedissonLock and LockPubSub.
**Still**
- A message does not decide which waiter comes next: a waiter can be overtaken again and again.
- Each release wakes one waiter in every replica, and all but one of them try in vain.
- A process that is stopped renews nothing: when it resumes, it works on without the lock.
- The lock of a thread that hangs in a living process is renewed for ever.
**See it**
- `lab run rush --stage pubsub`
- `lab run convoy --stage pubsub`
- `lab diff watchdog pubsub`
"""

import time
from contextlib import ExitStack

from app.lock import Grant, NotAcquired, NotOwner, Stage
from app.locks.request_owner import request_owner
from app.locks.watchdog import RENEWER

ACQUIRE = """
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[1], 1)
    redis.call('pexpire', KEYS[1], ARGV[2])
    return nil
end
return redis.call('pttl', KEYS[1])
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


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms, lease_ms=None):
        self.store = store
        self.key = key
        self.channel = f"{key}:free"
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
        with ExitStack() as listening:
            messages = None
            while (left_ms := self.left_ms()) is not None:
                wait_s = deadline_s - time.monotonic()
                if wait_s < 0:
                    raise NotAcquired(self.key, self.wait_ms)
                if messages is None:  # then try again: a release may have come before the subscription
                    messages = listening.enter_context(self.store.subscriptions.channel(self.channel))
                else:
                    messages.wait(wait_s if left_ms < 0 else min(wait_s, max(left_ms, 1) / 1000))

    def left_ms(self):
        """Return how long another holder's lock can still live, below 0 without an end; None if this holder has it."""
        return self.acquire_script([self.key], [self.owner, self.ttl_ms])

    def renew(self):
        return self.renew_script([self.key], [self.owner, self.ttl_ms])

    def release(self):
        """Return whether the lock was still held."""
        RENEWER.forget(self)  # first: if the release fails, the lock must not be renewed any more
        return self.release_script([self.key, self.channel], [self.owner]) is not None


STAGE = Stage(
    lock=Lock,
    follows="watchdog",
    store="redis",
    ttl_ms=30_000,
    lease=True,
    gains="prompt_handover",
)
