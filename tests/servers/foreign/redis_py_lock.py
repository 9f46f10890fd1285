"""The lock of redis-py itself, on the store's client."""

from redis.exceptions import LockNotOwnedError
from redis.lock import Lock as RedisPyLock

from app.lock import Grant, NotAcquired, NotOwner, Stage, claims


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key = key
        self.wait_ms = wait_ms
        sleep_s, wait_s = retry_ms / 1000, wait_ms / 1000
        self.lock = RedisPyLock(store.plain(), key, timeout=ttl_ms / 1000, sleep=sleep_s, blocking_timeout=wait_s)

    def run(self, work):
        if not self.lock.acquire():
            raise NotAcquired(self.key, self.wait_ms)
        result = work(Grant(self.key))
        try:
            self.lock.release()
        except LockNotOwnedError:
            raise NotOwner(self.key, "this thread") from None
        return result


STAGE = Stage(
    lock=Lock,
    follows="lua",
    store="redis",
    ttl_ms=3000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        releases_only_its_own
        releases_atomically
        counts_once
        answers_a_try_at_once
        freed_after_crash
        freed_after_hang
        breaks_deadlock
        survives_persisted_restart
    """),
)
