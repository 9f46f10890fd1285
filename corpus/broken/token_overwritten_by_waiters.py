"""Broken: the token belongs to the process, and each waiter makes a new one: the holder's release no longer finds its own."""

import time
from dataclasses import replace
from uuid import uuid4

from app.lock import NotAcquired
from app.locks import lua

TOKENS = {}


class Lock(lua.Lock):
    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while True:
            TOKENS[self.key] = token = uuid4().hex
            if self.store.set(self.key, token, nx=True, px=self.ttl_ms):
                return
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        self.release_script([self.key], [TOKENS[self.key]])


STAGE = replace(lua.STAGE, lock=Lock)
