"""Broken: the bakery without the flags for customers that are choosing: a lower number can come after a higher one is served."""

import time
from dataclasses import replace
from uuid import uuid4

from app.lock import NotAcquired
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        self.token = uuid4().hex
        number = max(map(int, self.store.hvals(self.key)), default=0) + 1
        self.store.hset(self.key, self.token, number)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.is_first():
            if time.monotonic() > deadline_s:
                self.release()
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def is_first(self):
        numbers = self.store.hgetall(self.key)
        return min((int(number), token) for token, number in numbers.items())[1] == self.token

    def release(self):
        self.store.hdel(self.key, self.token)


STAGE = replace(setnx.STAGE, lock=Lock)
