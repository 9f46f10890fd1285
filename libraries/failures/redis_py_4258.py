"""redis-py's lock: a release that fails forgets the token, so the lock cannot be released any more.

**Idea** The token is cleared before the command is sent. Here the holder calls ``release`` again when the first call fails.
"""

from redis.exceptions import LockError
from redis.lock import Lock as OfRedis

from app.foreign.declared import declared
from app.foreign.library import Quote, ReportedFailure

REPORT = "https://github.com/redis/redis-py/pull/4258"

FAILURE = ReportedFailure(
    report="redis/redis-py#4258",
    link=REPORT,
    what="After a release that failed, a second one raises LockError and leaves the key. #3847 is the same in its asyncio part.",
    package="redis",
    version="8.1.0",
    promises={
        "exclusive": Quote(
            "A shared, distributed Lock. Using Redis for locking allows the Lock to be shared across processes and/or machines.",
            "https://github.com/redis/redis-py/blob/v8.1.0/redis/lock.py",
        ),
        "freed_after_a_failed_release": Quote(
            "both `release()` and `extend()` then raise `LockError`, so the only way out is deleting the key by hand.", REPORT
        ),
    },
    scenario="failed_release",
    breaks="freed_after_a_failed_release",
    by="release_failed",
)


class Lock(OfRedis):
    """The lock of redis-py, which its holder releases once more when a release fails."""

    def release(self):
        """Release, and again if that failed. Raises as the second call does."""
        try:
            super().release()
        except Exception:  # noqa: BLE001 - whatever the client raises, the caller still has the lock
            super().release()


def use(at):
    """Use a lock without a timeout, as by default."""
    lock = Lock(at.client, at.key, sleep=at.retry_s, blocking_timeout=at.wait_s)
    if lock.acquire():
        try:
            at.work()
        finally:
            lock.release()


STAGE = FAILURE.stage(lock=declared(use, errors=(LockError,)), store="redis")
