"""The resource split into buckets, each with a lock of its own: whoever finds one taken tries the next.

**Problem** One big lock serves one holder at a time, however many wait.
**Idea** Keep the number as the sum of several, each in a bucket under its own lock. Which bucket is tried first is chance;
one that is taken costs one command, and only if all are taken does anybody sleep.
**Still**
- Two are inside at the same time, in different buckets: the number as a whole is known only when nobody writes.
- A release that finds the lock gone, or another's, says nothing.
- Work that outlasts the TTL goes on without the lock, beside the next holder.
**See it**
- `lab run rush --stage bucketed`
- `lab run rush --stage bucketed --work-ms 5 --requests 1000`
- `lab diff lua bucketed`
"""

import random
import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""


BUCKETS = 8


class Bucketed:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        bucket = self.acquire()
        result = work(Grant(bucket))
        self.release(bucket)
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while (bucket := self.any_free()) is None:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        return bucket

    def any_free(self):
        first = random.randrange(BUCKETS)
        for number in range(BUCKETS):
            bucket = f"{self.key}:{(first + number) % BUCKETS}"
            if self.store.set(bucket, self.token, nx=True, px=self.ttl_ms):
                return bucket
        return None

    def release(self, bucket):
        self.release_script([bucket], [self.token])


STAGE = Stage(
    lock=Bucketed,
    follows="lua",
    store="redis",
    resource="buckets",
    ttl_ms=3000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        releases_only_its_own
        releases_atomically
        counts_once
        answers_a_try_at_once
        freed_after_crash
        freed_after_thread_death
        breaks_deadlock
        survives_persisted_restart
    """),
)
