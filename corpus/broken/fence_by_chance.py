"""Broken: the fence is a random number, so most holders come after a higher one and are refused."""

import random
from dataclasses import replace

from app.locks import fencing


class Lock(fencing.Lock):
    def acquire(self):
        super().acquire()
        return random.randrange(1, 2**31)


STAGE = replace(fencing.STAGE, lock=Lock)
