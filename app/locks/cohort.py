"""A holder hands the lock on inside its own replica: the store is not asked.

**Problem** Each grant goes through the store and wakes another process: on the way the lock is idle.
**Idea** The threads of a replica are a cohort with one lock in the store, and one of them queues for it. A release hands the lock
over to the next thread of its replica, at most sixteen times for each grant of the store. Renewal goes on meanwhile. The cohort
counts its lease from the last renewal: a lock that may have ended is handed over to nobody.
**Source** D. Dice, V. J. Marathe, N. Shavit, "Lock Cohorting" (2012, 2015).
**Still**
- Requests of other replicas are overtaken: before each turn of a replica, each other replica can serve up to seventeen requests.
- There is always a moment between the last check and the write: a holder that is stopped in it still writes.
- The lock of a thread that hangs in a living process is renewed for ever.
**See it**
- `lab run rush --stage cohort`
- `lab run starvation --stage cohort`
- `lab run frozen_holder --stage cohort`
- `lab diff fair cohort`
"""

import time
from contextlib import ExitStack

from app.cohort_mutex import CohortMutex
from app.lock import Grant, NotAcquired, NotOwner, Stage
from app.locks.request_owner import OWNERS, request_owner
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
COHORTS = CohortMutex(most=16)


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
        if self.key in OWNERS.get({}):  # it has its turn already
            return work(COHORTS.held(self.key).grant())
        deadline_s = time.monotonic() + self.wait_ms / 1000
        with request_owner(self.key) as self.owner, COHORTS.turn(self.key, self.wait_ms) as turn:
            if turn.held is None:  # no thread of this replica has handed the lock over
                self.acquire(deadline_s)
                if self.lease_ms is None:  # an explicit lease time turns the renewal off
                    RENEWER.watch(self)
                turn.held = self
            was_held = True
            try:
                result = work(turn.held.grant())
            finally:
                if not (turn.held.still_mine() and turn.hand_over()):
                    was_held = turn.held.release()
            if not was_held:
                raise NotOwner(self.key, turn.held.owner)
            return result

    def grant(self):
        return Grant(self.key, still_mine=self.still_mine)

    def still_mine(self):
        return time.monotonic() < self.mine_until_s

    def acquire(self, deadline_s):
        with ExitStack() as listening:
            messages = None
            while not self.extended_by(self.acquire_script):
                wait_s = deadline_s - time.monotonic()
                if wait_s < 0:
                    self.leave()
                    raise NotAcquired(self.key, self.wait_ms)
                if messages is None:  # then try again: a release may have come before the subscription
                    messages = listening.enter_context(self.store.subscriptions.channel(f"{self.queue}:{self.owner}"))
                else:
                    messages.wait(min(wait_s, self.place_ms / 3000))  # then ask again: that keeps the place

    def leave(self):
        self.leave_script([self.key, self.queue], [self.owner])

    def renew(self):
        return self.extended_by(self.renew_script)

    def extended_by(self, script):
        sent_s = time.monotonic()
        if not script([self.key, self.queue], [self.owner, self.ttl_ms, self.place_ms]):
            return False
        self.mine_until_s = sent_s + self.ttl_ms / 1000
        return True

    def release(self):
        """Return whether the lock was still held."""
        RENEWER.forget(self)  # first: if the release fails, the lock must not be renewed any more
        return self.release_script([self.key, self.queue], [self.owner]) is not None


STAGE = Stage(
    lock=Lock,
    follows="fair",
    store="redis",
    ttl_ms=30_000,
    lease=True,
    gains="survives_a_freeze stops_when_lost survives_a_slow_acquire",
    loses="fair",
)
