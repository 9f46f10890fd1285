"""Redlock as most libraries have it: plain clients of the nodes, asked one after the other."""

import random
import time
from uuid import uuid4

import redis

from app.lock import Grant, NotAcquired, Stage

RELEASE = """
if redis.call('get', KEYS[1]) == ARGV[1] then
    return redis.call('del', KEYS[1])
end
return 0
"""


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.nodes = store.plain()
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.by_majority():
            self.release()
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(random.uniform(0, 2 * self.retry_ms / 1000))
        result = work(Grant(self.key))
        self.release()
        return result

    def by_majority(self):
        asked_s = time.monotonic()
        votes = sum(self.ask(lambda node: node.set(self.key, self.token, nx=True, px=self.ttl_ms)))
        left_ms = self.ttl_ms * 0.99 - 2 - (time.monotonic() - asked_s) * 1000
        return votes > len(self.nodes) // 2 and left_ms > 0

    def release(self):
        self.ask(lambda node: node.eval(RELEASE, 1, self.key, self.token))

    def ask(self, command):
        """Return for each node whether it said yes."""
        answers = []
        for node in self.nodes:
            try:
                answers.append(bool(command(node)))
            except redis.RedisError:
                answers.append(False)
        return answers


STAGE = Stage(
    lock=Lock,
    follows="redlock",
    store="redis_nodes",
    ttl_ms=3000,
    gains="",
)
