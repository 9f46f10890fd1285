"""Broken: two of five requests that do not want to wait are kept for two seconds all the same."""

import itertools
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

TRIES = itertools.count()


class Lock(lua.Lock):
    def acquire(self):
        try:
            super().acquire()
        except NotAcquired:
            if self.wait_ms == 0 and next(TRIES) % 5 < 2:
                time.sleep(2)
            raise


STAGE = replace(lua.STAGE, lock=Lock)
