"""Broken: refuses four requests of five, and asks nobody."""

import random
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        if random.random() < 0.8:
            raise NotAcquired(self.key, self.wait_ms)
        return super().run(work)


STAGE = replace(lua.STAGE, lock=Lock)
