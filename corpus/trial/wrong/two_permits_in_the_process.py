"""Broken: the process holds the lock in the store, and a gate lets its requests in; but the gate has two permits."""

import threading
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

GATE = threading.Semaphore(2)
MUTEX = threading.Lock()
INSIDE = []  # requests of this process; the first one has asked the store


class Lock(lua.Lock):
    def acquire(self):
        if not GATE.acquire(timeout=self.wait_ms / 1000):
            raise NotAcquired(self.key, self.wait_ms)
        try:
            with MUTEX:
                if INSIDE:
                    self.token = INSIDE[0].token
                else:
                    super().acquire()
                INSIDE.append(self)
        except BaseException:
            GATE.release()
            raise

    def release(self):
        try:
            with MUTEX:
                INSIDE.remove(self)
                if not INSIDE:
                    super().release()
        finally:
            GATE.release()


STAGE = replace(lua.STAGE, lock=Lock)
