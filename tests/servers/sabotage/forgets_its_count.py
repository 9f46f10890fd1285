"""Sabotaged: lets its holder in again, and lets go of everything when that holder leaves for the first time."""

import os
import threading
import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage, claims

ACQUIRE = """
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[1], 1)
    redis.call('pexpire', KEYS[1], ARGV[2])
    return 1
end
return 0
"""

RELEASE = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return nil
end
return redis.call('del', KEYS[1])
"""

CLIENT = uuid4().hex


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.owner = f"{CLIENT}:{os.getpid()}:{threading.get_ident()}"
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.acquire_script = store.register_script(ACQUIRE)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        self.acquire()
        result = work(Grant(self.key))
        self.release()
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.acquire_script([self.key], [self.owner, self.ttl_ms]):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        if self.release_script([self.key], [self.owner]) is None:
            raise NotOwner(self.key, self.owner)


STAGE = Stage(
    lock=Lock,
    follows="lua",
    store="redis",
    ttl_ms=30_000,
    claims=claims("""
        exclusive_in_process
        exclusive
        releases_only_its_own
        reentrant
    """),
)
