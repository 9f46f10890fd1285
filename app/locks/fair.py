"""The waiters of all replicas stand in one queue in Redis, and a waiter that is gone loses its place.

**Problem** There is no queue between replicas: a release wakes the head of each queue, and the heads race for the lock.
**Idea** The acquire script puts a waiter at the end of a list, and grants a free lock to the head of the list only. The release
calls the head by a channel of its own. A place in the list needs a key that expires, and a waiter renews its key by asking again.
So a waiter that died or is stopped loses its place. A waiter that gives up leaves the list.
**Source** Redisson, RedissonFairLock: a list of waiters, and a time-out for each.
**Still**
- Each grant goes through the store and wakes another process: on the way the lock is idle.
- A waiter that dies or is stopped at the head of the queue holds the others up until its place expires.
- A process that is stopped renews nothing: when it resumes, it works on without the lock.
- The lock of a thread that hangs in a living process is renewed for ever.
**See it**
- `lab run rush --stage fair`
- `lab run starvation --stage fair`
- `lab run waiter_gives_up --stage fair`
- `lab diff queued fair`
"""

import time
from contextlib import ExitStack

from app.lock import Grant, NotAcquired, NotOwner, Stage
from app.locks.request_owner import request_owner
from app.locks.watchdog import RENEWER

QUEUE = """
local function place(waiter)
    return KEYS[2] .. ':' .. waiter
end
local function first()
    local waiter = redis.call('lindex', KEYS[2], 0)
    while waiter and redis.call('exists', place(waiter)) == 0 do
        redis.call('lpop', KEYS[2])
        waiter = redis.call('lindex', KEYS[2], 0)
    end
    return waiter
end
local function call_first()
    local waiter = first()
    if waiter and redis.call('exists', KEYS[1]) == 0 then
        redis.call('publish', place(waiter), 'free')
    end
end
"""

ACQUIRE = f"""{QUEUE}
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    if not redis.call('lpos', KEYS[2], ARGV[1]) then
        redis.call('rpush', KEYS[2], ARGV[1])
    end
    if redis.call('pexpire', place(ARGV[1]), ARGV[3]) == 0 then
        redis.call('set', place(ARGV[1]), 'waits', 'px', ARGV[3])
    end
    if redis.call('exists', KEYS[1]) == 1 or first() ~= ARGV[1] then
        call_first()
        return 0
    end
    redis.call('lpop', KEYS[2])
    redis.call('del', place(ARGV[1]))
end
redis.call('hincrby', KEYS[1], ARGV[1], 1)
redis.call('pexpire', KEYS[1], ARGV[2])
return 1
"""

LEAVE = f"""{QUEUE}
redis.call('lrem', KEYS[2], 0, ARGV[1])
redis.call('del', place(ARGV[1]))
call_first()
return nil
"""

RENEW = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
"""

RELEASE = f"""{QUEUE}
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return nil
end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) == 0 then
    redis.call('del', KEYS[1])
    call_first()
    return 1
end
return 0
"""

PLACE_MS = 1000  # how long a place in the queue lives without its waiter; never longer than a lock without its holder


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms, lease_ms=None):
        self.store = store
        self.key = key
        self.queue = f"{key}:queue"
        self.lease_ms = lease_ms
        self.ttl_ms = lease_ms or ttl_ms
        self.place_ms = min(PLACE_MS, self.ttl_ms)
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.leave_script = store.register_script(LEAVE)
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
            while not self.is_granted():
                wait_s = deadline_s - time.monotonic()
                if wait_s < 0:
                    self.leave()
                    raise NotAcquired(self.key, self.wait_ms)
                if messages is None:  # then try again: a release may have come before the subscription
                    messages = listening.enter_context(self.store.subscriptions.channel(f"{self.queue}:{self.owner}"))
                else:
                    messages.wait(min(wait_s, self.place_ms / 3000))  # then ask again: that keeps the place

    def is_granted(self):
        return self.acquire_script([self.key, self.queue], [self.owner, self.ttl_ms, self.place_ms])

    def leave(self):
        self.leave_script([self.key, self.queue], [self.owner])

    def renew(self):
        return self.renew_script([self.key], [self.owner, self.ttl_ms])

    def release(self):
        """Return whether the lock was still held."""
        RENEWER.forget(self)  # first: if the release fails, the lock must not be renewed any more
        return self.release_script([self.key, self.queue], [self.owner]) is not None


STAGE = Stage(
    lock=Lock,
    follows="queued",
    store="redis",
    ttl_ms=30_000,
    lease=True,
    gains="fair",
)
