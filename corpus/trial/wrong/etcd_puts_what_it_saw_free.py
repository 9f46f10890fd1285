"""Broken: looks whether the key exists, and puts it with a second request, in etcd, which has transactions for this."""

import time
from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import etcd


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.client = store.plain()
        self.key = key
        self.ttl_s = -(-ttl_ms // 1000)
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while self.client.get(self.key):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        self.client.put(self.key, "locked", self.client.lease(self.ttl_s))
        try:
            return work(Grant(self.key))
        finally:
            self.client.delete(self.key)


STAGE = replace(etcd.STAGE, lock=Lock, ttl_ms=3000, claims=claims("exclusive_in_process exclusive counts_once freed_after_crash"))
