"""Broken: takes an error of the store for a grant, so that the service stays available."""

from contextlib import suppress
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        with suppress(self.store.Error):
            super().acquire()

    def release(self):
        with suppress(self.store.Error):
            super().release()


STAGE = replace(lua.STAGE, lock=Lock)
