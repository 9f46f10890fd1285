"""Sound: a request sets a key of its own with a TTL, and moves it to the lock's name by RENAMENX, if that is free."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.moved():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def moved(self):
        mine = f"{self.key}:{self.token}"
        self.store.set(mine, self.token, px=self.ttl_ms)
        return self.store.renamenx(mine, self.key)


STAGE = replace(lua.STAGE, lock=Lock)
