"""redis-py's lock with ``timeout=0``, which means that it does not expire: ``reacquire()`` deletes its key.

**Idea** The holder renews the lock ten times a second, as one does for long work.
"""

import contextlib
import threading

from redis.exceptions import LockError
from redis.lock import Lock as OfRedis

from app.foreign.declared import declared
from app.foreign.library import Quote, ReportedFailure

EVERY_S = 0.1
CODE = "https://github.com/redis/redis-py/blob/v8.1.0/redis/lock.py"

FAILURE = ReportedFailure(
    report="redis/redis-py#4279",
    link="https://github.com/redis/redis-py/issues/4279",
    what="With timeout=0, reacquire() answers True and deletes the lock: PEXPIRE with 0 removes the key.",
    package="redis",
    version="8.1.0",
    promises={
        "exclusive": Quote(
            "A shared, distributed Lock. Using Redis for locking allows the Lock to be shared across processes and/or machines.",
            CODE,
        ),
        "held_to_the_end": Quote("By default, it will remain locked until release() is called.", CODE),
    },
    scenario="work_outlasts_ttl",
    breaks="exclusive",
    by="renewal_deleted",
)


class Lock(OfRedis):
    """The lock of redis-py; a thread of its holder calls ``reacquire``."""

    def acquire(self, *args, **kwargs):
        """Acquire, and begin to renew."""
        granted = super().acquire(*args, **kwargs)
        if granted:
            self.is_over = threading.Event()
            self.thread = threading.Thread(target=self.renew)
            self.thread.start()
        return granted

    def release(self):
        """End the renewals, and release."""
        self.is_over.set()
        self.thread.join()
        super().release()

    def renew(self):
        """Renew until the lock is released, or found to be lost."""
        with contextlib.suppress(Exception):
            while not self.is_over.wait(EVERY_S):
                self.reacquire()


def use(at):
    """Use a lock that does not expire. Its token is shared with the thread that renews it."""
    lock = Lock(at.client, at.key, timeout=0, sleep=at.retry_s, blocking_timeout=at.wait_s, thread_local=False)
    if lock.acquire():
        try:
            at.work()
        finally:
            lock.release()


STAGE = FAILURE.stage(lock=declared(use, errors=(LockError,)), store="redis")
