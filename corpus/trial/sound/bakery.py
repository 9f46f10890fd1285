"""Sound: Lamport's bakery, with the flags of customers that are choosing; no command decides anything by itself."""

import time
from dataclasses import replace
from uuid import uuid4

from app.lock import NotAcquired, claims
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        self.token, self.choosing = uuid4().hex, f"{self.key}:choosing"
        self.store.hset(self.choosing, self.token, 1)
        number = max(map(int, self.store.hvals(self.key)), default=0) + 1
        self.store.hset(self.key, self.token, number)
        self.store.hdel(self.choosing, self.token)
        self.earlier = set(self.store.hkeys(self.choosing))
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.is_first():
            if time.monotonic() > deadline_s:
                self.release()
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def is_first(self):
        if self.earlier:
            self.earlier &= set(self.store.hkeys(self.choosing))
        numbers = self.store.hgetall(self.key)
        return not self.earlier and min((int(number), token) for token, number in numbers.items())[1] == self.token

    def release(self):
        self.store.hdel(self.key, self.token)


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once survives_a_freeze survives_a_late_freeze"),
)
