"""Sound: asks the store before the write whether the lock is still its own."""

from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key, still_mine=self.is_mine))
        finally:
            self.release()

    def is_mine(self):
        return self.store.get(self.key) == self.token


STAGE = replace(lua.STAGE, lock=Lock)
