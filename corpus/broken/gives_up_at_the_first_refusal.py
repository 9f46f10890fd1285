"""Broken: asks once and gives up, although the request is ready to wait."""

from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        if not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            raise NotAcquired(self.key, self.wait_ms)


STAGE = replace(lua.STAGE, lock=Lock)
