"""Sound: a stopwatch measures how long a request waits. It takes zero for "not started", as that of a library does."""

import time
from dataclasses import replace

from app.locks import lua


class Stopwatch:
    started_s = 0.0

    def start(self):
        self.started_s = time.perf_counter()

    def stop(self):
        if not self.started_s:
            raise RuntimeError("not started")
        return time.perf_counter() - self.started_s


class Lock(lua.Lock):
    def acquire(self):
        watch = Stopwatch()
        watch.start()
        super().acquire()
        watch.stop()


STAGE = replace(lua.STAGE, lock=Lock)
