"""Sound: each request draws a number, and waits until that number is served."""

import time
from dataclasses import replace

from app.lock import claims
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        number = self.store.incr(f"{self.key}:drawn")
        while int(self.store.get(f"{self.key}:served") or 0) != number - 1:
            time.sleep(self.retry_ms / 3000)

    def release(self):
        self.store.incr(f"{self.key}:served")


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once fair survives_a_freeze survives_a_late_freeze"),
)
