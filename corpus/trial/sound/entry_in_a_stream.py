"""Sound: requests stand in a stream without groups, and the one whose entry is the first has the lock."""

import time
from dataclasses import replace

from app.lock import NotAcquired, claims
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        self.entry = self.store.xadd(self.key, {"state": "waits"})
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.store.xrange(self.key, count=1)[0][0] != self.entry:
            if time.monotonic() > deadline_s:
                self.release()
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 3000)

    def release(self):
        self.store.xdel(self.key, self.entry)


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive held_to_the_end counts_once serves_most_requests fair releases_only_its_own
        survives_a_freeze survives_a_late_freeze waiters_may_leave
    """),
)
