"""Sound: the lock of etcd3gw, which asks once; the request asks again until it is tired of waiting."""

import time
from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import etcd


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key = key
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.lock = store.plain().lock(key, ttl=-(-ttl_ms // 1000))

    def run(self, work):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.lock.acquire():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        try:
            return work(Grant(self.key))
        finally:
            self.lock.release()


STAGE = replace(
    etcd.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive acquires_atomically releases_only_its_own counts_once freed_after_crash"),
)
