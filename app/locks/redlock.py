"""Redlock: a request asks five independent Redis servers, and has the lock with the votes of three.

**Problem** One store is a single point of failure: a standby that takes over may not know of the lock.
**Idea** Ask five independent servers for the same key, all at once. A request has the lock if at least three agreed and some
of the TTL is left, after the time that asking took and an allowance for clock drift. This rest is the lock's validity: the work
asks before it writes, and is abandoned when the validity is over. A release goes to all five servers, including those that did
not answer. A request that did not get the lock releases as well, and sleeps for a random time before it asks again.
**Source** redis.io, "Distributed Locks with Redis", "The Redlock Algorithm" and "Retry on Failure"; `Until()` of go-redsync,
which keeps the validity.
**Still**
- A lock server that restarts without its data forgets its vote, and votes for a second holder.
- A standby that takes the place of a lock server may not know the server's vote, and votes for a second holder.
- Each server counts the TTL by its own clock: when clocks jump, keys expire early.
- Work that outlasts the validity is abandoned before its write: nothing extends it, and the next holder is inside already.
- There is always a moment between the last check and the write: a holder that is stopped in it still writes.
- A holder that acquires its own lock again waits for itself.
- Every waiting request asks all servers again and again: the more requests compete, the more votes are split.
**See it**
- `lab run rush --stage redlock`
- `lab run amnesia --stage redlock`
- `lab run slow_asking --stage redlock`
- `lab run clock_jump --stage redlock`
- `lab diff lua redlock`
"""

import random
import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""

DRIFT = 0.01  # as a share of the TTL
LEAST_DRIFT_MS = 2


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key, still_mine=self.still_mine))
        finally:
            self.release()

    def still_mine(self):
        return time.monotonic() < self.valid_until_s

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.by_majority():
            self.release()
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(random.uniform(0, 2 * self.retry_ms / 1000))

    def by_majority(self):
        asked_s = time.monotonic()
        answers = self.store.all("SET", self.key, self.token, "NX", "PX", self.ttl_ms)
        self.valid_until_s = asked_s + (self.ttl_ms * (1 - DRIFT) - LEAST_DRIFT_MS) / 1000
        return answers.count("OK") > len(answers) // 2 and self.still_mine()

    def release(self):
        self.store.all("EVAL", RELEASE, 1, self.key, self.token)


STAGE = Stage(
    lock=Lock,
    follows="lua",
    store="redis_nodes",
    ttl_ms=3000,
    gains="""
        survives_a_lost_reply
        survives_delayed_amnesia
        available_with_a_node_down
        available_with_two_nodes_down
        refuses_without_majority
        survives_a_freeze
        survives_a_slow_acquire
    """,
    loses="breaks_deadlock",
)
