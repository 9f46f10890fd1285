"""The lock of celery-singleton: SET NX when a task is queued, and a plain DEL when it has run.

**Idea** The value names the task that has the lock, so that a second call can return it. No release looks at it.
"""

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

README = "https://github.com/steinitzu/celery-singleton/blob/0.3.1/README.md"
SHARED = Quote(
    "This is a baseclass for celery tasks that ensures only one instance of the task can be queued or running at any given time.",
    README,
)

LIBRARY = Library(
    package="celery-singleton",
    version="0.3.1",
    used="rank 8024 of PyPI's downloads",
    lock="celery_singleton.backends.redis.RedisBackend, as Singleton calls it",
    options="It does not wait: the request asks again. No lock_expiry, as by default: the lock never expires",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_failure": Quote(
            "the task locks are only released when the task is actually finished running (on success or on failure)", README
        ),
    },
)


def use(at):
    """Use the lock as a task does: ``apply_async`` acquires it, and ``on_success`` unlocks the task, whosever the lock is."""
    from celery_singleton.backends.redis import RedisBackend

    backend, key = RedisBackend(f"redis://{at.host}:{at.port}"), f"SINGLETONLOCK_{at.key}"
    if backend.lock(key, at.token):
        try:
            at.work()
        finally:
            backend.unlock(key)


STAGE = LIBRARY.stage(lock=declared(use, key="SINGLETONLOCK_{key}"), store="redis", environment="celery_singleton")
