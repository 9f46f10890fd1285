"""The lock of coredis: SET NX PX with a token, asked again and again; a script compares the token at the release.

**Idea** A client for asyncio that is written anew, with a lock after redis-py's.
"""

from contextlib import AsyncExitStack

from app.foreign.adapter import adapted
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


class WithClient:
    """The lock and its client: a block of ``with`` would hide the answers of the lock in a group of errors."""

    def __init__(self, host, port, name, timeout, sleep, blocking_timeout):
        self.address = {"host": host, "port": port}
        self.name, self.times = name, {"timeout": timeout, "sleep": sleep, "blocking_timeout": blocking_timeout}
        self.stack = AsyncExitStack()

    async def acquire(self):
        """Connect, and acquire the lock. Return whether it was granted."""
        from coredis import Redis
        from coredis.patterns.lock import Lock

        granted = False
        try:
            self.lock = Lock(await self.stack.enter_async_context(Redis(**self.address)), self.name, **self.times)
            granted = await self.lock.acquire()
        finally:
            if not granted:
                await self.stack.aclose()
        return granted

    async def release(self):
        """Release the lock, and disconnect. Return whether it was held until then."""
        from coredis.exceptions import LockReleaseError

        try:
            await self.lock.release()
        except LockReleaseError:
            return False
        finally:
            await self.stack.aclose()
        return True


STAGE = LIBRARY.stage(lock=adapted(WithClient), store="redis", ttl_ms=3000, environment="coredis", by_lane=True)
