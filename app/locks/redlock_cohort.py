"""Redlock with one competitor in each replica, which hands the lock on inside the replica.

**Problem** Every waiting request asks all servers again and again: the more requests compete, the more votes are split.
**Idea** The threads of a replica are a cohort, and one of them competes for the votes. A release hands the lock over to the next
thread of its replica, at most sixteen times, and only while half of the validity is left. After that all servers are asked to
delete the key, and the next competitor of this replica pauses first: another replica can win.
**Source** D. Dice, V. J. Marathe, N. Shavit, "Lock Cohorting" (2012, 2015), with Redlock as the lock that all cohorts share.
**Still**
- A lock server that restarts without its data forgets its vote, and votes for a second holder.
- A standby that takes the place of a lock server may not know the server's vote, and votes for a second holder.
- Each server counts the TTL by its own clock: when clocks jump, keys expire early.
- Work that outlasts the validity is abandoned before its write: nothing extends it, and the next holder is inside already.
- There is always a moment between the last check and the write: a holder that is stopped in it still writes.
- A holder that acquires its own lock again waits for itself.
**See it**
- `lab run rush --stage redlock_cohort`
- `lab run patient_users --stage redlock_cohort`
- `lab run amnesia --stage redlock_cohort`
- `lab diff redlock redlock_cohort`
"""

import random
import time
from uuid import uuid4

from app.cohort_mutex import CohortMutex
from app.lock import Grant, NotAcquired, Stage

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""

DRIFT = 0.01  # as a share of the TTL
LEAST_DRIFT_MS = 2
COHORTS = CohortMutex(most=16)


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        with COHORTS.turn(self.key, self.wait_ms) as turn:
            if turn.held is None:  # no thread of this replica has handed the lock over
                if turn.waited:  # this replica has just had the lock
                    self.pause()
                self.acquire(deadline_s)
                turn.held = self
            try:
                return work(Grant(self.key, still_mine=turn.held.still_mine))
            finally:
                if not (turn.held.is_fresh() and turn.hand_over()):
                    turn.held.release()

    def still_mine(self):
        return time.monotonic() < self.valid_until_s

    def is_fresh(self):
        """Return whether the next holder would have half of the validity for its work."""
        return time.monotonic() < self.valid_until_s - self.ttl_ms / 2000

    def acquire(self, deadline_s):
        while not self.by_majority():
            self.release()
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            self.pause()

    def pause(self):
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
    follows="redlock",
    store="redis_nodes",
    ttl_ms=3000,
    gains="fair_in_process",
)
