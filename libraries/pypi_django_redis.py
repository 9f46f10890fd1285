"""The lock of django-redis: redis-py's lock, on the client and with the keys of Django's cache.

**Idea** A cache in Redis gives locks as well: ``cache.lock(name)``.
"""

import contextlib

from redis.exceptions import LockError

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

SHARED = Quote(
    "It also supports the Redis ability to create Redis distributed named locks. The Lock interface is identical to the "
    "``threading.Lock`` so you can use it as replacement.",
    "https://github.com/jazzband/django-redis/blob/7.0.0/README.rst#locks",
)

LIBRARY = Library(
    package="django-redis",
    version="7.0.0",
    used="rank 1334 of PyPI's downloads",
    lock="django_redis.cache.RedisCache.lock",
    options="timeout: without it a lock is never freed by itself",
    promises={"exclusive_in_process": SHARED, "exclusive": SHARED},
)


def use(at):
    """Use the lock of a cache, which is made by its address alone; its connections are of the process."""
    from django.conf import settings
    from django_redis.cache import RedisCache

    with contextlib.suppress(RuntimeError):  # another thread has done it
        settings.configure()
    cache = RedisCache(f"redis://{at.host}:{at.port}/0", {})
    lock = cache.lock(at.key, timeout=at.ttl_s, sleep=at.retry_s, blocking_timeout=at.wait_s)
    if lock.acquire():
        try:
            at.work()
        finally:
            lock.release()


STAGE = LIBRARY.stage(
    lock=declared(use, key=":1:{key}", errors=(LockError,)), store="redis", ttl_ms=3000, environment="django_redis"
)
