"""Sound: requests stand in a list, and the one at its head has the lock. It has no TTL and promises none."""

import time
from dataclasses import replace
from uuid import uuid4

from app.lock import NotAcquired, claims
from app.locks import setnx


class Lock(setnx.Lock):
    def run(self, work):
        self.name = uuid4().hex
        try:
            return super().run(work)
        finally:
            self.store.lrem(self.key, 1, self.name)

    def acquire(self):
        self.store.rpush(self.key, self.name)
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.store.lindex(self.key, 0) != self.name:
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 3000)

    def release(self):
        self.store.lrem(self.key, 1, self.name)


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive held_to_the_end counts_once serves_most_requests fair releases_only_its_own
        survives_a_freeze survives_a_late_freeze waiters_may_leave freed_after_failure
    """),
)
