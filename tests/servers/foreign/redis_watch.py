"""A lock that is acquired by WATCH, GET and a transaction. Its client is its own, made from the options of the store's client."""

import time
from uuid import uuid4

from redis import ConnectionPool, Redis, WatchError

from app.lock import Grant, NotAcquired, NotOwner, Stage

CLIENTS = {}  # one a process: a client has a pool for all threads


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        if store not in CLIENTS:
            CLIENTS[store] = Redis(connection_pool=ConnectionPool(**store.connection_pool.connection_kwargs))
        self.client = CLIENTS[store]
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        self.acquire()
        result = work(Grant(self.key))
        if not self.change(self.token, lambda pipeline: pipeline.delete(self.key)):
            raise NotOwner(self.key, self.token)
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.change(None, lambda pipeline: pipeline.psetex(self.key, self.ttl_ms, self.token)):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def change(self, expected, do):
        """Do this to the key if it has the expected value, and only if nothing changes the key meanwhile."""
        with self.client.pipeline() as pipeline:
            try:
                pipeline.watch(self.key)
                if pipeline.get(self.key) != expected:
                    return False
                pipeline.multi()
                do(pipeline)
                pipeline.execute()
                return True
            except WatchError:
                return False


STAGE = Stage(
    lock=Lock,
    follows="lua",
    store="redis",
    ttl_ms=3000,
    gains="",
)
