"""Broken: a process that has served three hundred requests stops locking."""

import itertools
from dataclasses import replace

from app.locks import lua

REQUESTS = itertools.count(1)


class Lock(lua.Lock):
    def acquire(self):
        if next(REQUESTS) <= 300:
            super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
