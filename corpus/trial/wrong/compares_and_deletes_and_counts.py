"""Broken: compares and deletes with two commands, promises that they are one, and counts its releases with a third."""

from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        if self.store.get(self.key) == self.token:
            self.store.delete(self.key)
        self.store.incr(f"{self.key}:releases")


STAGE = replace(lua.STAGE, lock=Lock)
