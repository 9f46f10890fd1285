"""Sabotaged: renews from the moment it asks and checks no owner, so a waiter keeps the lock of a dead holder alive."""

import os
import threading
import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage, claims
from app.locks.watchdog import RENEWER

ACQUIRE = """
if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[1], 1)
    redis.call('pexpire', KEYS[1], ARGV[2])
    return 1
end
return 0
"""

RENEW = "return redis.call('pexpire', KEYS[1], ARGV[2])"

RELEASE = """
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return nil
end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) == 0 then
    redis.call('del', KEYS[1])
    return 1
end
return 0
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
        self.renew_script = store.register_script(RENEW)
        self.release_script = store.register_script(RELEASE)

    def run(self, work):
        RENEWER.watch(self)
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

    def renew(self):
        return self.renew_script([self.key], [self.owner, self.ttl_ms])

    def release(self):
        left = self.release_script([self.key], [self.owner])
        if left != 0:  # the last hold is gone, by this release or before it
            RENEWER.forget(self)
        if left is None:
            raise NotOwner(self.key, self.owner)


STAGE = Stage(
    lock=Lock,
    follows="reentrant",
    store="redis",
    ttl_ms=30_000,
    claims=claims("""
        exclusive_in_process
        exclusive
        held_to_the_end
        releases_only_its_own
        freed_after_crash
    """),
)
