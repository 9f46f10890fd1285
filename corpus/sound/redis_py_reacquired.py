"""Sound: the lock of redis-py, which a thread of the holder reacquires until the work is done."""

import threading
from dataclasses import replace

from redis.exceptions import LockError
from redis.lock import Lock as RedisLock

from app.lock import Grant, NotAcquired, NotOwner, claims
from app.locks import lua


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.ttl_ms = ttl_ms
        self.wait_ms = wait_ms
        options = {"timeout": ttl_ms / 1000, "sleep": retry_ms / 1000, "blocking_timeout": wait_ms / 1000}
        self.lock = RedisLock(store, key, thread_local=False, **options)
        self.over = threading.Event()

    def run(self, work):
        if not self.lock.acquire():
            raise NotAcquired(self.key, self.wait_ms)
        renewing = threading.Thread(target=self.reacquire)
        renewing.start()
        try:
            return work(Grant(self.key))
        finally:
            self.over.set()
            renewing.join()
            self.release()

    def release(self):
        try:
            self.lock.release()
        except LockError:
            raise NotOwner(self.key, "this request") from None

    def reacquire(self):
        while not self.over.wait(self.ttl_ms / 3000):
            try:
                self.lock.reacquire()
            except LockError:
                return  # lost: the release will find it out
            except self.store.Error:
                continue  # no answer: try again after the next third


GAINED = lua.STAGE.claims - claims("freed_after_hang breaks_deadlock") | claims("held_to_the_end")
STAGE = replace(lua.STAGE, lock=Lock, claims=GAINED)
