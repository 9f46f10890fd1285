"""Broken: a replica hands the lock over inside, again and again, and nobody extends the TTL of the first holder."""

import threading
from dataclasses import replace

from app.lock import NotAcquired
from app.locks import lua


class Replica:
    """The state that the requests of this process for one key share."""

    def __init__(self):
        self.mutex = threading.Lock()
        self.waiting = 0
        self.token = None


REPLICAS = {}


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.replica = REPLICAS.setdefault(key, Replica())

    def acquire(self):
        self.replica.waiting += 1
        got = self.replica.mutex.acquire(timeout=self.wait_ms / 1000)
        self.replica.waiting -= 1
        if not got:
            raise NotAcquired(self.key, self.wait_ms)
        if self.replica.token:
            self.token = self.replica.token
            return
        try:
            super().acquire()
        except NotAcquired:
            self.replica.mutex.release()
            raise
        self.replica.token = self.token

    def release(self):
        if self.replica.waiting <= 0:
            self.replica.token = None
            super().release()
        self.replica.mutex.release()


STAGE = replace(lua.STAGE, lock=Lock)
