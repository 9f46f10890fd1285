"""Broken: requests stand in a stream, and the release trims the whole stream, also the entries of waiters."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        self.entry = self.store.xadd(self.key, {"state": "waits"})
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.is_first():
            if time.monotonic() > deadline_s:
                self.store.xdel(self.key, self.entry)
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def is_first(self):
        first = self.store.xrange(self.key, count=1)
        return bool(first) and first[0][0] == self.entry

    def release(self):
        self.store.xtrim(self.key, maxlen=0, approximate=False)


STAGE = replace(setnx.STAGE, lock=Lock)
