"""Sound for what it promises: the stage ``ttl``, whose release also deletes an alarm of its waiters, in one pipeline.

SET NX PX, and a DEL that does not compare. It does not promise whose lock a late release deletes, as ``ttl`` does
not. A waiter that gives up raises an alarm, a key that the next release clears. Mostly there is no alarm: that DEL answers 0.
"""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import ttl


class Lock(ttl.Lock):
    def acquire(self):
        try:
            super().acquire()
        except NotAcquired:
            self.store.set(f"{self.key}:alarm", int(time.time()), px=10 * self.ttl_ms)
            raise

    def release(self):
        with self.store.pipeline(transaction=False) as both:
            both.delete(self.key)
            both.delete(f"{self.key}:alarm")
            both.execute()


STAGE = replace(ttl.STAGE, lock=Lock)
