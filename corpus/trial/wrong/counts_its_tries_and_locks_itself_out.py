"""Broken: promises that a lost reply locks nobody out, and does not look whose token it finds. It counts its tries first."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        self.store.incr(f"{self.key}:tries")
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(lua.STAGE, lock=Lock, claims=lua.STAGE.claims | claims("survives_a_lost_reply"))
