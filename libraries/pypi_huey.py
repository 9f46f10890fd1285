"""The lock of huey, lock_task: HSETNX of a field in the hash of all results, and HDEL.

**Idea** A task queue has a place for results; a result that is there already is a lock.
"""

from app.foreign.declared import declared
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


def use(at):
    """Lock a task. The release clears the lock, whosever it is."""
    from huey import RedisHuey
    from huey.exceptions import TaskLockedException

    lock = RedisHuey(host=at.host, port=at.port).lock_task(at.key)
    try:
        lock.acquire()
    except TaskLockedException:
        return
    try:
        at.work()
    finally:
        lock.release()


STAGE = LIBRARY.stage(lock=declared(use, key="huey.results.huey"), store="redis", environment="huey")
