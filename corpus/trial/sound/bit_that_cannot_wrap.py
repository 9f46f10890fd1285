"""Sound: adds one to a field of one bit, which fails if the bit is 1 already. It has no TTL and promises none."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.store.execute_command("BITFIELD", self.key, "OVERFLOW", "FAIL", "INCRBY", "u1", 0, 1) != [1]:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.store.setbit(self.key, 0, 0)


STAGE = replace(setnx.STAGE, lock=Lock)
