"""Sound: the process remembers how long its last holder held the lock, and its waiters sleep for half of that."""

import time
from dataclasses import replace

from app.lock import Grant, NotAcquired
from app.locks import lua

HELD_S = {}  # by key


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        began_s = time.monotonic()
        try:
            return work(Grant(self.key))
        finally:
            HELD_S[self.key] = time.monotonic() - began_s
            self.release()

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(min(max(HELD_S.get(self.key, 0) / 2, 0.001), self.retry_ms / 500))


STAGE = replace(lua.STAGE, lock=Lock)
