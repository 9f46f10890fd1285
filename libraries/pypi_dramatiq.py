"""The lock of dramatiq: a rate limiter that lets one in. It counts in a key, by WATCH and a transaction.

**Idea** A mutex is a semaphore of one. The count has no owner.
"""

from app.foreign.adapter import adapted, retried
from app.foreign.library import Library, Quote

CODE = "https://github.com/Bogdanp/dramatiq/blob/v2.2.1/dramatiq/rate_limits/concurrent.py"
SHARED = Quote("You can use a concurrent rate limiter of size 1 to get a distributed mutex.", CODE)
LIFE = Quote("ttl(int): The time in milliseconds that keys may live for.", CODE)

LIBRARY = Library(
    package="dramatiq",
    version="2.2.1",
    used="rank 3260 of PyPI's downloads",
    lock="dramatiq.rate_limits.ConcurrentRateLimiter",
    options="limit=1. It does not wait: the request asks again",
    promises={"exclusive_in_process": SHARED, "exclusive": SHARED, "freed_after_crash": LIFE, "freed_after_hang": LIFE},
)


class Mutex:
    """The limiter between acquire and release: its own ``acquire`` is for a ``with`` block."""

    def __init__(self, client, key, ttl_ms):
        from dramatiq.rate_limits import ConcurrentRateLimiter
        from dramatiq.rate_limits.backends import RedisBackend

        self.limiter = ConcurrentRateLimiter(RedisBackend(client=client), key, limit=1, ttl=ttl_ms)

    def acquire(self, wait, retry):
        """Enter the block. Return whether that was granted in time."""
        return retried(self.attempt, wait, retry)

    def attempt(self):
        """Try once to enter. Return whether that was granted."""
        self.inside = self.limiter.acquire(raise_on_failure=False)
        if self.inside.__enter__():
            return True
        self.release()
        return False

    def release(self):
        """Leave the block."""
        self.inside.__exit__(None, None, None)


STAGE = LIBRARY.stage(lock=adapted(Mutex), store="redis", ttl_ms=3000, environment="dramatiq")
