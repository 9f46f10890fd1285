"""The lock of celery-once: redis-py's lock sets the key when a task is queued; a plain DEL frees it when the task has run.

**Idea** The process that queues a task is another than the one that runs it: no token goes with the task.
"""

from app.foreign.adapter import adapted
from app.foreign.library import Library, Quote

README = "https://github.com/cameronmaske/celery-once/blob/v3.0.1/README.rst"
SHARED = Quote("Celery Once allows you to prevent multiple execution and queuing of celery tasks.", README)
LIFE = Quote("how many seconds after a lock has been set before it should automatically timeout", README)

LIBRARY = Library(
    package="celery-once",
    version="3.0.1",
    used="rank 8218 of PyPI's downloads",
    lock="celery_once.backends.Redis, as QueueOnce calls it",
    options="blocking=True: by default a task that is queued already is refused at once. With six, which it does not declare",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "freed_after_failure": Quote("Once the task completes (or ends due to an exception) the lock will clear.", README),
    },
)


class Once:
    """The lock as a task has it: ``apply_async`` acquires it, and ``after_return`` releases it."""

    def __init__(self, url, key, timeout, wait):
        from celery_once.backends import Redis

        self.backend = Redis({"url": url, "blocking": True, "blocking_timeout": wait})
        self.key, self.timeout = key, timeout

    def acquire(self):
        """Lock the task. Return whether it was not queued yet."""
        from celery_once import AlreadyQueued

        try:
            self.backend.raise_or_lock(self.key, self.timeout)
        except AlreadyQueued:
            return False
        return True

    def release(self):
        """Clear the lock, whosever it is."""
        self.backend.clear_lock(self.key)


STAGE = LIBRARY.stage(lock=adapted(Once), store="redis", ttl_ms=3000, environment="celery_once")
