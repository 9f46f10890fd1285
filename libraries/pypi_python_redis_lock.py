"""The lock of python-redis-lock: SET NX EX with a token; a waiter sleeps in BLPOP until a release pushes into a list.

**Idea** No waiter asks again and again: the store wakes one of them.
"""

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

README = "https://github.com/ionelmc/python-redis-lock/blob/v4.0.1/README.rst"
CODE = "https://github.com/ionelmc/python-redis-lock/blob/v4.0.1/src/redis_lock/__init__.py"
SHARED = Quote("Interface targeted to be exactly like `threading.Lock`", README)
LIFE = Quote("The lock expiry time in seconds. If left at the default (None) the lock will not expire.", CODE)
OWNED = Quote("Releases the lock, that was acquired with the same object.", CODE)

LIBRARY = Library(
    package="python-redis-lock",
    version="4.0.1",
    used="rank 4763 of PyPI's downloads",
    lock="redis_lock.Lock",
    options="expire, in whole seconds. It waits without a limit, as its with block does: a limit may not be longer than expire",
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
    """Use the lock as its ``with`` block does: without a limit for how long it waits."""
    import redis_lock

    lock = redis_lock.Lock(at.client, at.key, expire=at.ttl_s)
    if lock.acquire():
        try:
            at.work()
        finally:
            try:
                lock.release()
            except redis_lock.NotAcquired:
                at.lost()


STAGE = LIBRARY.stage(
    lock=declared(use, key="lock:{key}"), store="redis", ttl_ms=3000, ttl_step_ms=1000, environment="python_redis_lock"
)
