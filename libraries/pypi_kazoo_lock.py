"""The lock of kazoo: an ephemeral node with a number for each request, and the least number holds.

**Idea** The usual client for ZooKeeper in Python has the usual recipe.
"""

from kazoo.exceptions import LockTimeout

from app.foreign.library import Library, Quote
from app.lock import Grant, NotAcquired

CODE = "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/lock.py"
EXCLUSIVE = Quote("This is an exclusive lock.", CODE)

LIBRARY = Library(
    package="kazoo",
    version="2.11.0",
    used="rank 1502 of PyPI's downloads",
    lock="kazoo.client.KazooClient.Lock",
    promises={"exclusive_in_process": EXCLUSIVE, "exclusive": EXCLUSIVE},
    scenarios=("session_loss",),
)


class Lock:
    """The lock, in the session of the replica."""

    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key, self.wait_ms = key, wait_ms
        self.lock = store.plain(ttl_ms).Lock(f"/{key}")

    def run(self, work):
        """Acquire, work, release."""
        try:
            acquired = self.lock.acquire(blocking=self.wait_ms > 0, timeout=self.wait_ms / 1000 or None)
        except LockTimeout:
            acquired = False
        if not acquired:
            raise NotAcquired(self.key, self.wait_ms)
        try:
            return work(Grant(self.key))
        finally:
            self.lock.release()


STAGE = LIBRARY.stage(lock=Lock, store="zookeeper", ttl_ms=10_000, ttl_step_ms=1000)
