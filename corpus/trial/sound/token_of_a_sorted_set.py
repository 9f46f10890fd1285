"""Sound: one token is in a sorted set, and waiters take it by BZPOPMIN. It has no TTL and promises none."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx

FILL = "return redis.call('setnx', KEYS[2], 'yes') == 1 and redis.call('zadd', KEYS[1], 1, 'token') or 0"
STEP_S = 0.5


class Lock(setnx.Lock):
    def acquire(self):
        self.store.register_script(FILL)([self.key, f"{self.key}:filled"], [])
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.bzpopmin([self.key], timeout=STEP_S):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)

    def release(self):
        self.store.zadd(self.key, {"token": 1})


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive held_to_the_end counts_once prompt_handover survives_a_freeze survives_a_late_freeze
    """),
)
