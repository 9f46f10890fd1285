"""Detour: Redlock with a fixed pause before the next try.

**Problem** The pause before the next try is easily written wrong: after a fixed one, requests that split the vote ask again at
the same moment.
**Idea** Sleep for a fixed time before the next try, as the stages with one server do.
**Still**
- Requests that ask at the same time split the vote, sleep equally long, and split it again.
- A lock server that restarts without its data forgets its vote, and votes for a second holder.
- A replica that takes the place of a lock server may not know its vote, and votes for a second holder.
- Each server counts the TTL by its own clock: when clocks jump, keys expire early.
- Work that outlasts the validity is abandoned before its write: nothing extends it, and the next holder is inside already.
- There is always a moment between the last check and the write: a holder that is stopped in it still writes.
- A holder that acquires its own lock again waits for itself.
**See it**
- `lab run rush --stage redlock_no_jitter`
- `lab run split_vote --stage redlock_no_jitter`
- `lab diff redlock redlock_no_jitter`
"""

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
            time.sleep(self.retry_ms / 1000)

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
    gains="",  # it makes the same promises
)
