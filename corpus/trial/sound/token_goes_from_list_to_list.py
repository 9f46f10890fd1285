"""Sound: one token goes by BRPOPLPUSH from the list of free tokens to that of taken ones, and back. It has no TTL."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx

FILL = """
if redis.call('set', KEYS[1] .. ':filled', 'yes', 'NX') then
    redis.call('rpush', KEYS[1] .. ':free', 'token')
end
return 1
"""
RELEASE = """
if redis.call('lrem', KEYS[1] .. ':taken', 1, 'token') == 1 then
    redis.call('rpush', KEYS[1] .. ':free', 'token')
end
return 1
"""


class Lock(setnx.Lock):
    def acquire(self):
        self.store.register_script(FILL)([self.key], [])
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.store.brpoplpush(f"{self.key}:free", f"{self.key}:taken", timeout=1) is None:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)

    def release(self):
        self.store.register_script(RELEASE)([self.key], [])


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once survives_a_freeze survives_a_late_freeze"),
)
