"""Broken: sets the key once more, so that it does not end in the release; it may be the key of another holder by then."""

from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        self.store.set(self.key, self.token, px=self.ttl_ms)
        super().release()


STAGE = replace(lua.STAGE, lock=Lock)
