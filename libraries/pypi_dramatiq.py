"""The lock of dramatiq: a rate limiter that lets one in. It counts in a key, by WATCH and a transaction.

**Idea** A mutex is a semaphore of one. The count has no owner.
"""

from app.foreign.declared import declared
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


def use(at):
    """Enter the block of the limiter."""
    from dramatiq.rate_limits import ConcurrentRateLimiter
    from dramatiq.rate_limits.backends import RedisBackend

    limiter = ConcurrentRateLimiter(RedisBackend(client=at.client), at.key, limit=1, ttl=at.ttl_ms)
    with limiter.acquire(raise_on_failure=False) as granted:
        if granted:
            at.work()


STAGE = LIBRARY.stage(lock=declared(use), store="redis", ttl_ms=3000, environment="dramatiq")
