"""Broken: if the work has failed, the release deletes the key without a look; otherwise its script compares the token."""

from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        try:
            done = work(Grant(self.key))
        except Exception:
            self.store.delete(self.key)
            raise
        self.release()
        return done


STAGE = replace(lua.STAGE, lock=Lock)
