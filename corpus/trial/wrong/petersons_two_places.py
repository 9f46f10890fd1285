"""Broken: Peterson's algorithm, which is for two. Requests take its places in turn, and the third shares that of the first."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        self.me = self.store.incr(f"{self.key}:drawn") % 2
        self.store.set(f"{self.key}:flag:{self.me}", 1)
        self.store.set(f"{self.key}:turn", 1 - self.me)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.must_wait_for(1 - self.me):
            if time.monotonic() > deadline_s:
                self.release()
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def must_wait_for(self, other):
        return self.store.get(f"{self.key}:flag:{other}") == "1" and self.store.get(f"{self.key}:turn") == str(other)

    def release(self):
        self.store.set(f"{self.key}:flag:{self.me}", 0)


STAGE = replace(setnx.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive held_to_the_end counts_once"))
