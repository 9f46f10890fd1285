"""Broken: one request in ten, by a drawn number, does not lock at all."""

import random
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        if random.randrange(10) != 7:
            super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
