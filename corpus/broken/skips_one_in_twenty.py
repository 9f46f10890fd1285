"""Broken: one request in twenty does not lock at all."""

import random
from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        return work(Grant(self.key)) if random.random() < 0.05 else super().run(work)


STAGE = replace(lua.STAGE, lock=Lock)
