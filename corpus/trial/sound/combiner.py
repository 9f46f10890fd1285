"""Sound: the request that gets the lock also does the work that other requests of its process have put into a list."""

import threading
import time
from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import lua

EXTEND = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('pexpire', KEYS[1], ARGV[2]) or 0"
WAITING = {}  # key → the requests of this process whose work was not begun yet
MUTEX = threading.Lock()


class Lock(lua.Lock):
    def run(self, work):
        self.work, self.over, self.result = work, threading.Event(), None
        with MUTEX:
            WAITING.setdefault(self.key, []).append(self)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.over.wait(self.retry_ms / 1000):
            try:
                self.lead()
            except self.store.Error:
                if self.leaves():
                    raise
            if time.monotonic() > deadline_s and self.leaves():
                raise NotAcquired(self.key, self.wait_ms)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def lead(self):
        is_held = self.store.set(self.key, self.token, nx=True, px=self.ttl_ms)
        while is_held and (other := self.next()):
            try:
                other.result = other.work(Grant(self.key))
            except Exception as error:  # noqa: BLE001 - the request whose work it is raises it
                other.result = error
            other.over.set()
            is_held = self.store.register_script(EXTEND)([self.key], [self.token, self.ttl_ms])
        if is_held:
            self.release()

    def next(self):
        with MUTEX:
            return WAITING[self.key].pop(0) if WAITING[self.key] else None

    def leaves(self):
        with MUTEX:
            mine = self in WAITING[self.key]
            if mine:
                WAITING[self.key].remove(self)
            return mine


STAGE = replace(lua.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive counts_once"))
