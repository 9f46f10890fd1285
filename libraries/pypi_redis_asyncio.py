"""The lock of redis-py for asyncio: as its lock for threads, with a client of redis.asyncio.

**Idea** The same lock, for programs that run an event loop.
"""

from redis.asyncio.lock import Lock
from redis.exceptions import LockError

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

CODE = "https://github.com/redis/redis-py/blob/v8.1.0/redis/asyncio/lock.py"
SHARED = Quote(
    "A shared, distributed Lock. Using Redis for locking allows the Lock to be shared across processes and/or machines.", CODE
)
LIFE = Quote("``timeout`` indicates a maximum life for the lock in seconds.", CODE)
OWNED = Quote("Cannot release a lock that's no longer owned", CODE)

LIBRARY = Library(
    package="redis",
    version="8.1.0",
    used="rank 143 of PyPI's downloads",
    lock="redis.asyncio.lock.Lock",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "releases_only_its_own": OWNED,
        "releases_atomically": OWNED,
    },
)


async def use(at):
    """Use the lock with all times of the scenario."""
    lock = Lock(at.client, at.key, timeout=at.ttl_s, sleep=at.retry_s, blocking_timeout=at.wait_s)
    if await lock.acquire():
        try:
            await at.work()
        finally:
            await lock.release()


STAGE = LIBRARY.stage(lock=declared(use, errors=(LockError,)), store="redis", ttl_ms=3000)
