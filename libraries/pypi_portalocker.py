"""The RedisLock of portalocker: the lock is a subscription to a channel, and who wants it asks who listens there.

**Idea** A key has to expire after a crash. A subscription ends with its connection.
"""

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

CODE = "https://github.com/wolph/portalocker/blob/v4.4.2/portalocker/redis.py"
ALONE = Quote("an exclusive writer holds it alone", CODE)

LIBRARY = Library(
    package="portalocker",
    version="4.4.2",
    used="rank 497 of PyPI's downloads, most of them for its locks on files",
    lock="portalocker.RedisLock",
    options="It asks again after 250 ms, its default: its own threads look every 100 ms",
    promises={
        "exclusive_in_process": ALONE,
        "exclusive": ALONE,
        "held_to_the_end": Quote("ownership is a property of a live connection", CODE),
    },
)


def use(at):
    """Use the lock with a connection that it makes itself."""
    from portalocker import AlreadyLocked, RedisLock

    lock = RedisLock(at.key, timeout=at.wait_s, redis_kwargs={"host": at.host, "port": at.port})
    try:
        lock.acquire()
    except AlreadyLocked:
        return
    try:
        at.work()
    finally:
        lock.release()
        if lock.lost:
            at.lost()


STAGE = LIBRARY.stage(lock=declared(use), store="redis", environment="portalocker", by_lane=True)
