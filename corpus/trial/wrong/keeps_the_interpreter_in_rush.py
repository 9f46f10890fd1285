"""Broken: between grant and work, each twentieth request of a process keeps the interpreter for longer than its lease."""

import ctypes
import itertools
from dataclasses import replace

from app.locks import lua

C = ctypes.PyDLL(None)  # unlike CDLL, it keeps the interpreter's lock during a call
GRANTS = itertools.count(1)


class Lock(lua.Lock):
    def acquire(self):
        super().acquire()
        if next(GRANTS) % 20 == 0:
            C.usleep(int(1200 * self.ttl_ms))


STAGE = replace(lua.STAGE, lock=Lock)
