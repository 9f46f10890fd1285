"""Broken: a lock on five servers of which it asks one; when that is gone, a process goes on to the next one for one request."""

import time
from uuid import uuid4

import redis

from app.lock import Grant, NotAcquired, Stage, claims

RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
NEXT = []  # the server that has stood in: until it was looked after, it is not asked again


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.nodes, self.key, self.token = store.plain(), key, uuid4().hex
        self.ttl_ms, self.wait_ms, self.retry_ms = ttl_ms, wait_ms, retry_ms

    def run(self, work):
        try:
            node = self.acquire(self.nodes[0])
        except redis.ConnectionError:
            if NEXT:
                raise
            NEXT.append(1)
            node = self.acquire(self.nodes[1])
        try:
            return work(Grant(self.key))
        finally:
            node.eval(RELEASE, 1, self.key, self.token)

    def acquire(self, node):
        until_s = time.monotonic() + self.wait_ms / 1000
        while not node.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > until_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        return node


STAGE = Stage(
    lock=Lock,
    store="redis_nodes",
    ttl_ms=3000,
    claims=claims("exclusive_in_process exclusive counts_once available_with_a_node_down"),
)
