"""Broken: fills the list with its token whenever it is empty, and it is empty whenever somebody has the lock."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx

FILL = """
if redis.call('exists', KEYS[1]) == 0 then
    redis.call('rpush', KEYS[1], 'token')
end
return redis.call('lpop', KEYS[1])
"""


class Lock(setnx.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.register_script(FILL)([self.key], []):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.rpush(self.key, "token")


STAGE = replace(setnx.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive held_to_the_end counts_once"))
