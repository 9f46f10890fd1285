"""The lock of redis-lock-py: SET NX EX with a token; a waiter subscribes to a channel on which a release publishes.

**Idea** No waiter asks again and again: a message wakes all of them. A lock that expires publishes nothing; they sleep on then,
each time for longer.
"""

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

README = "https://github.com/miintto/redis-lock-py/blob/v1.3.0/README.md"
CODE = "https://github.com/miintto/redis-lock-py/blob/v1.3.0/redis_lock/lock.py"
SHARED = Quote("Redis distributed lock implementation for Python based on Pub/Sub messaging.", README)
OWNED = Quote("Release the owned lock", CODE)

LIBRARY = Library(
    package="redis-lock-py",
    version="1.3.0",
    lock="redis_lock.RedisLock",
    options="expire_timeout, in whole seconds: without it a lock is never freed by itself",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_crash": Quote(
            "The maximum lifetime of acquired lock.", "https://github.com/miintto/redis-lock-py/blob/v1.3.0/redis_lock/base.py"
        ),
        "releases_only_its_own": OWNED,
        "releases_atomically": OWNED,
    },
)


def use(at):
    """Use the lock. Its ``acquire`` keeps its defaults: its arguments are no limits, but pauses of its subscription."""
    from redis_lock import RedisLock
    from redis_lock.exceptions import LockNotOwnedError

    lock = RedisLock(at.client, at.key, blocking_timeout=at.wait_s, expire_timeout=at.ttl_ms // 1000)
    if lock.acquire():
        try:
            at.work()
        finally:
            try:
                lock.release()
            except LockNotOwnedError:
                at.lost()


STAGE = LIBRARY.stage(
    lock=declared(use),
    store="redis",
    ttl_ms=3000,
    ttl_step_ms=1000,
    waiters_may_sleep_on=True,
    environment="redis_lock_py",
)
