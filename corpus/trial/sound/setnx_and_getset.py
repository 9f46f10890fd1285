"""Sound: the key holds the moment at which the lease ends; GETSET decides which waiter takes an ended lock over.

It is the pattern of the old documents of Redis. A holder whose moment is over deletes nothing.
"""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import ttl


class Lock(ttl.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.got():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def got(self):
        self.ends_s = time.time() + self.ttl_ms / 1000
        if self.store.setnx(self.key, self.ends_s):
            return True
        seen = self.store.get(self.key)
        return has_ended(seen) and has_ended(self.store.getset(self.key, self.ends_s))

    def release(self):
        if time.time() < self.ends_s:
            self.store.delete(self.key)


def has_ended(moment):
    return moment is None or float(moment) < time.time()


STAGE = replace(ttl.STAGE, lock=Lock)
