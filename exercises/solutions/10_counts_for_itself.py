"""Exercise 10, solved: the script that grants the lock makes the number.

**Idea** One counter in the store of the lock: a later grant has a higher number, whichever replica got it.
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims

ACQUIRE = """
if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    return redis.call('incr', KEYS[2])
end
return 0
"""

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        fence = self.acquire()
        try:
            return work(Grant(self.key, fence=fence))
        finally:
            self.release()

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not (fence := self.acquire_script([self.key, f"{self.key}:fence"], [self.token, self.ttl_ms])):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        return fence

    def release(self):
        self.release_script([self.key], [self.token])


STAGE = Stage(
    lock=Lock,
    store="redis",
    resource="fenced",
    ttl_ms=3000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        releases_only_its_own
        releases_atomically
        counts_once
        serves_most_requests
        freed_after_crash
        survives_a_freeze
        survives_a_late_freeze
    """),
)
