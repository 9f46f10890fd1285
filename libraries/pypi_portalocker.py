"""The RedisLock of portalocker: the lock is a subscription to a channel, and who wants it asks who listens there.

**Idea** A key has to expire after a crash. A subscription ends with its connection.
"""

from app.foreign.adapter import adapted
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


class OnChannel:
    """The lock with a connection that it makes itself."""

    def __init__(self, host, port, key, wait):
        from portalocker import RedisLock

        self.lock = RedisLock(key, timeout=wait, redis_kwargs={"host": host, "port": port})

    def acquire(self):
        """Acquire the lock. Raises an error of the library where that takes too long."""
        self.lock.acquire()

    def release(self):
        """Release the lock, and return whether it was held until then."""
        self.lock.release()
        return not self.lock.lost


STAGE = LIBRARY.stage(lock=adapted(OnChannel), store="redis", environment="portalocker", by_lane=True)
