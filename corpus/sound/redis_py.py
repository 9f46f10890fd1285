"""Sound: the lock of redis-py, as its users use it."""

from dataclasses import replace

from redis.exceptions import LockNotOwnedError
from redis.lock import Lock as RedisLock

from app.lock import Grant, NotAcquired, NotOwner
from app.locks import lua


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key = key
        self.wait_ms = wait_ms
        self.lock = RedisLock(store, key, timeout=ttl_ms / 1000, sleep=retry_ms / 1000, blocking_timeout=wait_ms / 1000)

    def run(self, work):
        if not self.lock.acquire():
            raise NotAcquired(self.key, self.wait_ms)
        try:
            return work(Grant(self.key))
        finally:
            self.release()

    def release(self):
        try:
            self.lock.release()
        except LockNotOwnedError:
            raise NotOwner(self.key, "this request") from None


STAGE = replace(lua.STAGE, lock=Lock)
