"""Sound: a replica holds the lock for up to eight of its requests, one after the other, and then frees it."""

import threading
import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import lua

EXTEND = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('pexpire', KEYS[1], ARGV[2])
end
return 0
"""
MOST = 8


class Replica:
    """The state that the requests of this process for one key share."""

    def __init__(self):
        self.mutex = threading.Lock()  # only its holder changes the rest
        self.token = None  # in the store while this process holds the lock
        self.served = 0


REPLICAS = {}


class Lock(lua.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        self.replica = REPLICAS.setdefault(key, Replica())
        self.extend_script = store.register_script(EXTEND)

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        if not self.replica.mutex.acquire(timeout=self.wait_ms / 1000):
            raise NotAcquired(self.key, self.wait_ms)
        while not self.got():
            if time.monotonic() > deadline_s:
                self.replica.mutex.release()
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def got(self):
        if self.replica.token and self.extend_script([self.key], [self.replica.token, self.ttl_ms]):
            return True  # handed over by another request of this process
        self.replica.token = None
        if not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            return False
        self.replica.token, self.replica.served = self.token, 0
        return True

    def release(self):
        """Keep the lock for the next request of this process, at most eight times; if none comes, its TTL ends it."""
        self.replica.served += 1
        if self.replica.served >= MOST:
            self.release_script([self.key], [self.replica.token])
            self.replica.token = None
        self.replica.mutex.release()


STAGE = replace(lua.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive counts_once"))
