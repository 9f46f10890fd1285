"""Sound: the key in the store has another name than the lock."""

from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, f"mutex/{{{key}}}", ttl_ms, wait_ms, retry_ms)
        self.name = key

    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.name))
        finally:
            self.release()


STAGE = replace(lua.STAGE, lock=Lock)
