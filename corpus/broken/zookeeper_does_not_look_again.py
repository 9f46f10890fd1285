"""Broken: enters when the node before its own is gone. That waiter may have given up, and the holder is still inside."""

import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import zookeeper


class Lock(zookeeper.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        self.enter()
        names = self.names()
        if (place := self.place(names)) > 0:
            self.watch(names[place - 1], deadline_s)
            if self.store.exists(f"{self.queue}/{names[place - 1]}"):
                raise NotAcquired(self.key, self.wait_ms)


STAGE = replace(zookeeper.STAGE, lock=Lock)
