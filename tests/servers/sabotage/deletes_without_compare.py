"""Sabotaged: releases whatever lock is there, and says that it looks."""

import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, Stage, claims


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        self.acquire()
        result = work(Grant(self.key))
        self.store.get(self.key)
        self.store.delete(self.key)
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = Stage(
    lock=Lock,
    follows="ttl",
    store="redis",
    ttl_ms=3000,
    claims=claims("""
        exclusive_in_process
        exclusive
        releases_only_its_own
    """),
)
