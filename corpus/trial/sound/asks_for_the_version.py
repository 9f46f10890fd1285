"""Sound: it asks the server for its version before each try, as libraries do that need a new one."""

from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        if int(self.store.info()["redis_version"].partition(".")[0]) < 6:
            raise NotAcquired(self.key, self.wait_ms)
        super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
