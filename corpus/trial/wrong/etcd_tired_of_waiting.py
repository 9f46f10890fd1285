"""Broken: a waiter that waits for longer than the TTL believes that the holder is dead, and overwrites the key of the lock."""

import contextlib
import time
from dataclasses import replace
from uuid import uuid4

from app.lock import Grant, NotAcquired, claims
from app.locks import etcd


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store, self.key = store, key
        self.ttl_s, self.wait_ms, self.retry_ms = -(-ttl_ms // 1000), wait_ms, retry_ms

    def run(self, work):
        lease = self.acquire(self.store.plain(), uuid4().hex)
        try:
            return work(Grant(self.key))
        finally:
            self.end(lease)

    def acquire(self, client, token):
        asked_s = time.monotonic()
        while True:
            lease = client.lease(self.ttl_s)
            if client.create(self.key, token, lease):
                return lease
            waited_s = time.monotonic() - asked_s
            if waited_s > self.wait_ms / 1000:
                self.end(lease)
                raise NotAcquired(self.key, self.wait_ms)
            if waited_s > self.ttl_s:
                client.put(self.key, token, lease)
                return lease
            self.end(lease)
            time.sleep(self.retry_ms / 1000)

    def end(self, lease):
        with contextlib.suppress(self.store.Error):
            lease.revoke()


STAGE = replace(
    etcd.STAGE,
    lock=Lock,
    ttl_ms=10_000,
    claims=claims("exclusive_in_process exclusive counts_once freed_after_crash freed_after_failure"),
)
