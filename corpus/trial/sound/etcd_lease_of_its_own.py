"""Sound: each request has a lease of its own in etcd, and releases by revoking it."""

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
        lease = self.client.lease(self.ttl_s)
        try:
            deadline_s = time.monotonic() + self.wait_ms / 1000
            while not self.client.create(self.key, "locked", lease):
                if time.monotonic() > deadline_s:
                    raise NotAcquired(self.key, self.wait_ms)
                time.sleep(self.retry_ms / 1000)
                lease.refresh()  # an end while it waits is an error of the next create
            if lease.refresh() <= 0:  # its time counts from here
                raise NotAcquired(self.key, self.wait_ms)
            return work(Grant(self.key))
        finally:
            lease.revoke()


STAGE = replace(
    etcd.STAGE, lock=Lock, ttl_ms=10_000, claims=claims("exclusive_in_process exclusive counts_once freed_after_failure")
)
