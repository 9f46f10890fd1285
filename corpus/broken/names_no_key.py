"""Broken: locks nothing, names no key, and promises all the same to keep other requests out."""

from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        self.store.ping()
        return work(Grant(""))


STAGE = replace(lua.STAGE, lock=Lock)
