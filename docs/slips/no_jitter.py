"""Slip: a Redlock that sleeps for a fixed time before the next try.

**Idea** Sleep for a fixed time before the next try, as a lock with one server does.
**See it**
- `lab run convoy --stage docs/slips/no_jitter.py --rate 12 --retry-ms 500`
"""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import redlock


class Lock(redlock.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.by_majority():
            self.release()
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(redlock.STAGE, lock=Lock)
