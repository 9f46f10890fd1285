"""Broken: the mark that the token was made has a TTL, so after a while a second token is made."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx

FILL = """
if redis.call('set', KEYS[1] .. ':filled', 'yes', 'NX', 'PX', ARGV[1]) then
    redis.call('zadd', KEYS[1], 1, ARGV[2])
end
return 1
"""
STEP_S = 0.1


class Lock(setnx.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.ttl_ms = ttl_ms

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not (popped := self.got()):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
        self.token = popped[1]

    def got(self):
        self.store.register_script(FILL)([self.key], [self.ttl_ms, f"token {id(self)}"])
        return self.store.bzpopmin([self.key], timeout=STEP_S)

    def release(self):
        self.store.zadd(self.key, {self.token: 1})


STAGE = replace(setnx.STAGE, lock=Lock, ttl_ms=3000, claims=claims("exclusive_in_process exclusive counts_once"))
