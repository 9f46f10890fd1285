"""Sound: the lock is one ephemeral node, with the name of the key. A request that does not get it asks again."""

import contextlib
import time

from kazoo.exceptions import NodeExistsError, NoNodeError

from app.lock import Grant, NotAcquired, Stage, claims

CLIENTS = []  # of the process


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store, self.key, self.ttl_ms = store, key, ttl_ms
        self.wait_ms, self.retry_ms = wait_ms, retry_ms

    def run(self, work):
        if not CLIENTS:
            CLIENTS.append(self.store.plain(self.ttl_ms))
        until_s = time.monotonic() + self.wait_ms / 1000
        while not self.is_made():
            if time.monotonic() > until_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        try:
            return work(Grant(self.key))
        finally:
            with contextlib.suppress(NoNodeError):
                CLIENTS[0].delete(f"/{self.key}")

    def is_made(self):
        with contextlib.suppress(NodeExistsError):
            return CLIENTS[0].create(f"/{self.key}", ephemeral=True)


STAGE = Stage(
    lock=Lock,
    store="zookeeper",
    ttl_ms=4000,
    claims=claims("exclusive_in_process exclusive counts_once serves_most_requests freed_after_crash freed_after_failure"),
)
