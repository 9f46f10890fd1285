"""The lock of coredis: SET NX PX with a token, asked again and again; a script compares the token at the release.

**Idea** A client for asyncio that is written anew, with a lock after redis-py's.
"""

from contextlib import AsyncExitStack

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

CODE = "https://github.com/alisaifee/coredis/blob/6.9.0/coredis/patterns/lock/__init__.py"
SHARED = Quote("A shared, distributed Lock inspired by the", CODE)
LIFE = Quote("indicates a maximum life for the lock.", CODE)
OWNED = Quote("Cannot release a lock that's no longer owned", CODE)

LIBRARY = Library(
    package="coredis",
    version="6.9.0",
    used="rank 4162 of PyPI's downloads",
    lock="coredis.patterns.lock.Lock",
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
    """Use the lock, and a client for it: a block of ``with`` would hide the answers of the lock in a group of errors."""
    from coredis import Redis
    from coredis.exceptions import LockReleaseError
    from coredis.patterns.lock import Lock

    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(Redis(host=at.host, port=at.port))
        lock = Lock(client, at.key, timeout=at.ttl_s, sleep=at.retry_s, blocking_timeout=at.wait_s)
        if await lock.acquire():
            try:
                await at.work()
            finally:
                try:
                    await lock.release()
                except LockReleaseError:
                    at.lost()


STAGE = LIBRARY.stage(lock=declared(use), store="redis", ttl_ms=3000, environment="coredis", by_lane=True)
