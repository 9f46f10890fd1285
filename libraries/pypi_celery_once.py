"""The lock of celery-once: redis-py's lock sets the key when a task is queued; a plain DEL frees it when the task has run.

**Idea** The process that queues a task is another than the one that runs it: no token goes with the task.
"""

from app.foreign.declared import declared
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


def use(at):
    """Use the lock as a task does: ``apply_async`` acquires it, and ``after_return`` clears it, whosever it is."""
    from celery_once import AlreadyQueued
    from celery_once.backends import Redis

    options = {"url": f"redis://{at.host}:{at.port}", "blocking": True, "blocking_timeout": at.wait_s}
    backend = Redis(options)
    try:
        backend.raise_or_lock(at.key, at.ttl_s)
    except AlreadyQueued:
        return
    try:
        at.work()
    finally:
        backend.clear_lock(at.key)


STAGE = LIBRARY.stage(lock=declared(use), store="redis", ttl_ms=3000, environment="celery_once")
