"""Broken: sleeps for a minute before its first try, so that requests are spread."""

import time
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def acquire(self):
        time.sleep(60)
        super().acquire()


STAGE = replace(lua.STAGE, lock=Lock)
