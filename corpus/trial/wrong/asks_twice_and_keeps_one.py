"""Broken: two threads of a pool ask with a token each. The quicker one wins, and the other one gets the lock for nobody later."""

import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from uuid import uuid4

from app.lock import NotAcquired
from app.locks import lua

POOL = ThreadPoolExecutor(128)


class Lock(lua.Lock):
    def acquire(self):
        tries = [POOL.submit(self.ask, token) for token in (self.token, uuid4().hex)]
        done, _ = wait(tries, return_when=FIRST_COMPLETED)
        self.token = next(iter(done)).result()
        if self.token is None:
            raise NotAcquired(self.key, self.wait_ms)

    def ask(self, token):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                return None
            time.sleep(self.retry_ms / 1000)
        return token


STAGE = replace(lua.STAGE, lock=Lock)
