"""Broken: after the first error of the store a process works without the lock, and never comes back to it."""

from dataclasses import replace

from app.lock import Grant
from app.locks import lua

DEGRADED = []


class Lock(lua.Lock):
    def run(self, work):
        if DEGRADED:
            return work(Grant(self.key))
        try:
            return super().run(work)
        except self.store.Error as error:
            DEGRADED.append(error)
            raise


STAGE = replace(lua.STAGE, lock=Lock)
