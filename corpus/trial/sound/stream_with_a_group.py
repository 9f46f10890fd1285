"""Sound: one message in a stream is the lock. XREADGROUP gives it to one waiter, and the release adds another one."""

import time
from dataclasses import replace
from uuid import uuid4

from app.lock import NotAcquired, claims
from app.locks import setnx

MAKE = """
if redis.call('exists', KEYS[1]) == 0 then
    redis.call('xgroup', 'create', KEYS[1], 'all', '0', 'MKSTREAM')
    redis.call('xadd', KEYS[1], '*', 'lock', 'free')
end
return 1
"""
RELEASE = """
redis.call('xack', KEYS[1], 'all', ARGV[1])
redis.call('xdel', KEYS[1], ARGV[1])
return redis.call('xadd', KEYS[1], '*', 'lock', 'free')
"""
STEP_MS = 300


class Lock(setnx.Lock):
    def acquire(self):
        self.store.register_script(MAKE)([self.key], [])
        name, deadline_s = uuid4().hex, time.monotonic() + self.wait_ms / 1000
        while not (got := self.store.xreadgroup("all", name, {self.key: ">"}, count=1, block=STEP_MS)):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
        self.message = got[0][1][0][0]

    def release(self):
        self.store.register_script(RELEASE)([self.key], [self.message])


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once survives_a_freeze survives_a_late_freeze"),
)
