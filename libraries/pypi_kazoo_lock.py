"""The lock of kazoo: an ephemeral node with a number for each request, and the least number holds.

**Idea** The usual client for ZooKeeper in Python has the usual recipe.
"""

from kazoo.exceptions import LockTimeout

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

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


def use(at):
    """Use the lock in the session of the replica."""
    lock = at.client.Lock(f"/{at.key}")
    if lock.acquire(blocking=at.wait_ms > 0, timeout=at.wait_s or None):
        try:
            at.work()
        finally:
            lock.release()


STAGE = LIBRARY.stage(lock=declared(use, errors=(LockTimeout,)), store="zookeeper", ttl_ms=10_000, ttl_step_ms=1000)
