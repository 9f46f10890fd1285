"""The lock of django-redis: redis-py's lock, on the client and with the keys of Django's cache.

**Idea** A cache in Redis gives locks as well: ``cache.lock(name)``.
"""

import contextlib

from app.foreign.adapter import adapted
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


def make(host, port, key, timeout, sleep, blocking_timeout):
    """Make the lock as ``cache.lock`` does: a cache is made by its address alone, and its connections are of the process."""
    from django.conf import settings
    from django_redis.cache import RedisCache

    with contextlib.suppress(RuntimeError):  # another thread has done it
        settings.configure()
    cache = RedisCache(f"redis://{host}:{port}/0", {})
    return cache.lock(key, timeout=timeout, sleep=sleep, blocking_timeout=blocking_timeout)


STAGE = LIBRARY.stage(lock=adapted(make, key=":1:{key}"), store="redis", ttl_ms=3000, environment="django_redis")
