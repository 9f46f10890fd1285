"""The counter is split into buckets: each has its own lock, and a request takes one that is free.

**Problem** One lock serves one holder at a time, however many requests wait.
**Idea** The number is the sum of several buckets, and each bucket has its own lock. A request begins at a random bucket. A
locked bucket costs one command; a request sleeps only if all buckets are locked.
**Source** java.util.concurrent.atomic.LongAdder: a sum kept in several cells.
**Still**
- Two holders are inside at the same time, in different buckets: the sum is exact only while no request writes.
- A release that finds the lock expired, or held by another, reports nothing.
- Work that outlasts the TTL goes on without the lock, at the same time as the next holder.
**See it**
- `lab run rush --stage bucketed`
- `lab run rush --stage bucketed --work-ms 5 --requests 1000`
- `lab diff lua bucketed`
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


BUCKETS = 8


class Lock:
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
        try:
            return work(Grant(bucket))
        finally:
            self.release(bucket)

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
    lock=Lock,
    follows="lua",
    store="redis",
    resource="buckets",
    ttl_ms=3000,
    loses="""
        freed_after_a_failed_release
        freed_after_a_lost_release
        reenters_only_its_own
        waiters_may_leave
    """,
)
