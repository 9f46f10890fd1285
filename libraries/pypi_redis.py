"""The lock of redis-py: SET NX PX with a token, asked again and again; a script compares the token at the release.

**Idea** The client that most Python programs use for Redis has a lock of its own.
"""

from redis.exceptions import LockError
from redis.lock import Lock

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

CODE = "https://github.com/redis/redis-py/blob/v8.1.0/redis/lock.py"
SHARED = Quote(
    "A shared, distributed Lock. Using Redis for locking allows the Lock to be shared across processes and/or machines.", CODE
)
LIFE = Quote("``timeout`` indicates a maximum life for the lock in seconds.", CODE)
OWNED = Quote("Cannot release a lock that's no longer owned", CODE)

LIBRARY = Library(
    package="redis",
    version="8.1.0",
    used="rank 143 of PyPI's downloads",
    lock="redis.lock.Lock",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "releases_only_its_own": OWNED,
        "releases_atomically": OWNED,
    },
)


def use(at):
    """Use the lock with all times of the scenario."""
    lock = Lock(at.client, at.key, timeout=at.ttl_s, sleep=at.retry_s, blocking_timeout=at.wait_s)
    if lock.acquire():
        try:
            at.work()
        finally:
            lock.release()


STAGE = LIBRARY.stage(lock=declared(use, errors=(LockError,)), store="redis", ttl_ms=3000)
