"""Broken: a process hands the lock over inside, and counts a new lease for each hand-over that the store knows nothing of."""

import threading
import time
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua

MUTEX = threading.Lock()  # its holder has the turn of this process
HELD = {}  # key → token, and until when, by the clock of this process
WAITING = []


class Lock(lua.Lock):
    def acquire(self):
        WAITING.append(self)
        got = MUTEX.acquire(timeout=max(0, self.wait_ms / 1000))
        WAITING.remove(self)
        if not got:
            raise NotAcquired(self.key, self.wait_ms)
        token, until_s = HELD.pop(self.key, ("", 0))
        try:
            if time.monotonic() < until_s:
                self.token = token
            else:
                super().acquire()
        except BaseException:
            MUTEX.release()
            raise
        self.until_s = time.monotonic() + self.ttl_ms / 1000

    def release(self):
        try:
            if WAITING:
                HELD[self.key] = self.token, self.until_s
            else:
                super().release()
        finally:
            MUTEX.release()


STAGE = replace(lua.STAGE, lock=Lock)
