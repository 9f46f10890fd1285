"""Sound: the release deletes a note of its own as well, by a DEL that answers 1. The lock itself it compares."""

from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        super().acquire()
        self.store.set(f"{self.key}:note:{self.token}", "inside", px=self.ttl_ms * 10)

    def release(self):
        super().release()
        self.store.delete(f"{self.key}:note:{self.token}")


STAGE = replace(lua.STAGE, lock=Lock)
