"""The lock of python-redis-lock with auto_renewal: a thread sets its expiry anew after two thirds of it.

**Idea** A short expiry frees the lock of a dead holder, and a living holder keeps it.
"""

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

README = "https://github.com/ionelmc/python-redis-lock/blob/v4.0.1/README.rst"
CODE = "https://github.com/ionelmc/python-redis-lock/blob/v4.0.1/src/redis_lock/__init__.py"
SHARED = Quote("Interface targeted to be exactly like `threading.Lock`", README)
OWNED = Quote("Releases the lock, that was acquired with the same object.", CODE)

LIBRARY = Library(
    package="python-redis-lock",
    version="4.0.1",
    used="rank 4763 of PyPI's downloads",
    lock="redis_lock.Lock",
    options="auto_renewal=True, and expire, in whole seconds. It waits without a limit, as its with block does",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_crash": Quote(
            "One solution is to turn on the `auto_renewal` parameter in combination with `expire` to set a time-out on the lock, "
            "but let `Lock()` automatically keep resetting the expire time while your application code is executing",
            README,
        ),
        "held_to_the_end": Quote(
            "Lock will automatically renew the lock so that it doesn't expire for as long as the lock is held (acquire() called "
            "or running in a context manager).",
            CODE,
        ),
        "survives_a_failed_renewal": Quote(
            "Get a lock with a 60-second lifetime but keep renewing it automatically to ensure the lock is held for as long as "
            "the Python process is running.",
            README,
        ),
        "releases_only_its_own": OWNED,
        "releases_atomically": OWNED,
    },
)


def use(at):
    """Use the lock as its ``with`` block does: without a limit for how long it waits."""
    import redis_lock

    lock = redis_lock.Lock(at.client, at.key, expire=at.ttl_s, auto_renewal=True)
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
