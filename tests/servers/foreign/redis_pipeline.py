"""A lock that compares and deletes by WATCH and a transaction in a pipeline, and not by a script."""

import time
from uuid import uuid4

from redis import WatchError

from app.lock import Grant, NotAcquired, NotOwner, Stage


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.client = store.plain()
        self.key = key
        self.token = uuid4().hex
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        self.acquire()
        result = work(Grant(self.key))
        self.release()
        return result

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.client.set(self.key, self.token, nx=True, px=self.ttl_ms):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self):
        with self.client.pipeline() as pipeline:
            try:
                pipeline.watch(self.key)
                if pipeline.get(self.key) == self.token:
                    pipeline.multi()
                    pipeline.delete(self.key)
                    pipeline.execute()
                    return
            except WatchError:
                pass
        raise NotOwner(self.key, self.token)


STAGE = Stage(
    lock=Lock,
    follows="lua",
    store="redis",
    ttl_ms=3000,
    gains="",
)
