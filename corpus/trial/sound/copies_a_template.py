"""Sound: a request sets a template with a TTL, and copies it to the lock by COPY, if that is free."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.copied():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def copied(self):
        template = f"{self.key}:{self.token}"
        self.store.set(template, self.token, px=self.ttl_ms)
        return self.store.copy(template, self.key)


STAGE = replace(lua.STAGE, lock=Lock)
