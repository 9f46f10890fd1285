"""Broken: after the grant, a call in C sleeps and keeps the interpreter, so the renewing thread cannot run."""

import ctypes
from dataclasses import replace

from app.locks import watchdog

C = ctypes.PyDLL(None)  # unlike CDLL, it keeps the interpreter's lock during a call


class Lock(watchdog.Lock):
    def acquire(self):
        super().acquire()
        C.usleep(int(1200 * self.ttl_ms))


STAGE = replace(watchdog.STAGE, lock=Lock)
