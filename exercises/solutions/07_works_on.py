"""Exercise 7, solved: the holder keeps the time of its lease.

**Idea** The lease counts from the moment before the command is sent: the key in Redis can only live longer.
A pause between the last question and the write still does harm: exercise 10.
"""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims

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
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key, still_mine=self.still_mine))
        finally:
            self.release()

    def still_mine(self):
        return time.monotonic() < self.mine_until_s

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.try_once():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def try_once(self):
        self.mine_until_s = time.monotonic() + self.ttl_ms / 1000
        return self.store.set(self.key, self.token, nx=True, px=self.ttl_ms)

    def release(self):
        self.release_script([self.key], [self.token])


STAGE = Stage(
    lock=Lock,
    store="redis",
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
    """),
)
