"""Sound: a process keeps its lock, and lends it to its next request, until another process has said that it wants it."""

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
TURN = threading.Lock()  # its holder has the turn of this process
KEPT = {}  # key → the token under which this process keeps it
KEEP_MS = 100


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        if not TURN.acquire(timeout=self.wait_ms / 1000):
            raise NotAcquired(self.key, self.wait_ms)
        try:
            self.acquire_until(deadline_s)
        except BaseException:
            TURN.release()
            raise

    def acquire_until(self, deadline_s):
        while not self.got():
            self.store.set(f"{self.key}:wanted", self.token, px=self.ttl_ms)
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def got(self):
        kept = KEPT.pop(self.key, None)
        if kept and self.store.register_script(EXTEND)([self.key], [kept, self.ttl_ms]):
            self.token = kept
            return True
        return self.store.set(self.key, self.token, nx=True, px=self.ttl_ms)

    def release(self):
        try:
            if self.store.delete(f"{self.key}:wanted"):
                super().release()
            elif self.store.register_script(EXTEND)([self.key], [self.token, KEEP_MS]):
                KEPT[self.key] = self.token
        finally:
            TURN.release()


STAGE = replace(lua.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive counts_once"))
