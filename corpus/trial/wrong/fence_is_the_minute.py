"""Broken: the fence is the minute in which the lock was granted, so the grants of one minute have the same one."""

import time
from dataclasses import replace

from app.locks import fencing


class Lock(fencing.Lock):
    def acquire(self):
        super().acquire()
        return int(time.time() // 60)


STAGE = replace(fencing.STAGE, lock=Lock)
