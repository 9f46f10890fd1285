"""Sound: the fences grow by ten from grant to grant, and begin at a million."""

from dataclasses import replace

from app.locks import fencing


class Lock(fencing.Lock):
    def acquire(self):
        return 1_000_000 + 10 * super().acquire()


STAGE = replace(fencing.STAGE, lock=Lock)
