"""Broken: one request in fifteen is parked for two seconds before it enters the queue, to spread the load."""

import itertools
import time
from dataclasses import replace

from app.locks import fair

REQUESTS = itertools.count(1)


class Lock(fair.Lock):
    def acquire(self):
        if next(REQUESTS) % 15 == 0:
            time.sleep(2)
        super().acquire()


STAGE = replace(fair.STAGE, lock=Lock)
