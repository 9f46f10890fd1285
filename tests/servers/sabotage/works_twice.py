"""Sabotaged: does the work once more when it had to wait."""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims

RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"


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
        asked_s = time.monotonic()
        self.acquire()
        result = work(Grant(self.key))
        if time.monotonic() - asked_s > 0.05:
            result = work(Grant(self.key))
        self.release()
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.release_script([self.key], [self.token])


STAGE = Stage(
    lock=Lock,
    follows="lua",
    store="redis",
    ttl_ms=3000,
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once"),
)
