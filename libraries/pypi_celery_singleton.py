"""The lock of celery-singleton: SET NX when a task is queued, and a plain DEL when it has run.

**Idea** The value names the task that has the lock, so that a second call can return it. No release looks at it.
"""

from uuid import uuid4

from app.foreign.adapter import adapted, retried
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


class Single:
    """The lock as a task has it: ``apply_async`` acquires it, and ``on_success`` or ``on_failure`` releases it."""

    def __init__(self, url, key):
        from celery_singleton.backends.redis import RedisBackend

        self.backend, self.key = RedisBackend(url), f"SINGLETONLOCK_{key}"

    def acquire(self, wait, retry):
        """Lock the task, for a new one each time. Return whether that was granted in time."""
        return retried(lambda: self.backend.lock(self.key, str(uuid4())), wait, retry)

    def release(self):
        """Unlock the task, whosever the lock is."""
        self.backend.unlock(self.key)


STAGE = LIBRARY.stage(lock=adapted(Single, key="SINGLETONLOCK_{key}"), store="redis", environment="celery_singleton")
