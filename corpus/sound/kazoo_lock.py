"""Sound: the lock of kazoo, as its users use it."""

from dataclasses import replace

from kazoo.exceptions import LockTimeout

from app.lock import Grant, NotAcquired, claims
from app.locks import zookeeper


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key = key
        self.wait_ms = wait_ms
        self.lock = store.plain(ttl_ms).Lock(f"/{key}")

    def run(self, work):
        try:
            got = self.lock.acquire(blocking=self.wait_ms > 0, timeout=self.wait_ms / 1000 or None)
        except LockTimeout:
            got = False
        if not got:
            raise NotAcquired(self.key, self.wait_ms)
        try:
            return work(Grant(self.key))
        finally:
            self.lock.release()


STAGE = replace(zookeeper.STAGE, lock=Lock, claims=zookeeper.STAGE.claims - claims("survives_a_lost_reply"))
