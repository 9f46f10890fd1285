"""Broken: the release empties the whole database, because only the lock is in it; it may be the lock of another by then."""

from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        self.store.flushdb()


STAGE = replace(lua.STAGE, lock=Lock)
