"""Broken: one token in a list is the lock, but each process puts one of its own into the list when it starts."""

import os
import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx

FILL = """
if redis.call('set', KEYS[1] .. ':filled:' .. ARGV[1], 'yes', 'NX') then
    redis.call('rpush', KEYS[1], 'token')
end
return 1
"""
STEP_S = 1  # shorter than the time-out of the connection


class Lock(setnx.Lock):
    def acquire(self):
        self.store.register_script(FILL)([self.key], [os.getpid()])
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.store.blpop([self.key], timeout=STEP_S) is None:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)

    def release(self):
        self.store.rpush(self.key, "token")


STAGE = replace(setnx.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive held_to_the_end counts_once"))
