"""Broken: one request in a thousand does not lock at all."""

import random
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        if random.random() > 0.001:
            super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
