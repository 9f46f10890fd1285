"""Exercise 6, solved: an owner, and a count of entries.

**Idea** The key is a hash: owner and number of entries. The owner is the process and the thread, so both lock
objects share it.
"""

import os
import threading
import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims

ACQUIRE = """
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[1], 1)
    redis.call('pexpire', KEYS[1], ARGV[2])
    return 1
end
return 0
"""

RELEASE = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 1 and redis.call('hincrby', KEYS[1], ARGV[1], -1) == 0 then
    redis.call('del', KEYS[1])
end
return 0
"""

PROCESS = uuid4().hex


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.owner = f"{PROCESS}:{os.getpid()}:{threading.get_ident()}"
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key))
        finally:
            self.release()

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.acquire_script([self.key], [self.owner, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.release_script([self.key], [self.owner])


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
        reentrant
    """),
)
