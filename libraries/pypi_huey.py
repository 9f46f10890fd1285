"""The lock of huey, lock_task: HSETNX of a field in the hash of all results, and HDEL.

**Idea** A task queue has a place for results; a result that is there already is a lock.
"""

from app.foreign.adapter import adapted, retried
from app.foreign.library import Library, Quote

GUIDE = "https://github.com/coleifer/huey/blob/3.5.4/docs/guide.rst#locking-tasks"
SHARED = Quote("This lock prevents multiple invocations of a task from running concurrently.", GUIDE)

LIBRARY = Library(
    package="huey",
    version="3.5.4",
    used="rank 1108 of PyPI's downloads",
    lock="huey.RedisHuey.lock_task",
    options="It does not wait: the request asks again. No ttl, as by default: the lock never expires",
    promises={"exclusive_in_process": SHARED, "exclusive": SHARED},
)


class Task:
    """The lock between acquire and release: its own block of ``with`` raises an error where the lock is held."""

    def __init__(self, host, port, lock_name):
        from huey import RedisHuey

        self.lock = RedisHuey(host=host, port=port).lock_task(lock_name)

    def acquire(self, wait, retry):
        """Lock the task. Return whether that was granted in time."""
        return retried(self.attempt, wait, retry)

    def attempt(self):
        """Try once to lock the task. Return whether that was granted."""
        from huey.exceptions import TaskLockedException

        try:
            return self.lock.acquire()
        except TaskLockedException:
            return False

    def release(self):
        """Clear the lock, whosever it is."""
        self.lock.release()


STAGE = LIBRARY.stage(lock=adapted(Task, key="huey.results.huey"), store="redis", environment="huey")
