"""Broken: does the work, and then says that it did not get the lock."""

from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        super().run(work)
        raise NotAcquired(self.key, self.wait_ms)


STAGE = replace(lua.STAGE, lock=Lock)
