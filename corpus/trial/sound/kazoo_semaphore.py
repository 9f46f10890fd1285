"""Sound: the semaphore of kazoo, with one lease."""

from dataclasses import replace

from kazoo.exceptions import LockTimeout

from app.lock import Grant, NotAcquired, claims
from app.locks import zookeeper


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key = key
        self.wait_ms = wait_ms
        self.semaphore = store.plain(ttl_ms).Semaphore(f"/{key}", max_leases=1)

    def run(self, work):
        try:
            got = self.semaphore.acquire(blocking=self.wait_ms > 0, timeout=self.wait_ms / 1000 or None)
        except LockTimeout:
            got = False
        if not got:
            raise NotAcquired(self.key, self.wait_ms)
        try:
            return work(Grant(self.key))
        finally:
            self.semaphore.release()


STAGE = replace(
    zookeeper.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once freed_after_crash"),
)
