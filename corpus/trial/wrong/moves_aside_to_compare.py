"""Broken: the release moves the key aside, compares it there, and moves it back if it is not its own; in between it is free."""

from dataclasses import replace

from app.locks import lua

MOVE = "return redis.call('exists', KEYS[1]) == 1 and redis.call('rename', KEYS[1], KEYS[2])"


class Lock(lua.Lock):
    def release(self):
        aside = f"{self.key}:{self.token}"
        if not self.store.register_script(MOVE)([self.key, aside], []):
            return
        if self.store.get(aside) == self.token:
            self.store.delete(aside)
        else:
            self.store.renamenx(aside, self.key)


STAGE = replace(lua.STAGE, lock=Lock)
