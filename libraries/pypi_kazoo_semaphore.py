"""The semaphore of kazoo with one lease: the nodes of its holders are counted, under a lock.

**Idea** One lease is the default, and then it is a lock.
"""

from kazoo.exceptions import LockTimeout

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

CODE = "https://github.com/python-zk/kazoo/blob/2.11.0/kazoo/recipe/lock.py"
LEASES = Quote("The maximum amount of leases available for the semaphore.", CODE)

LIBRARY = Library(
    package="kazoo",
    version="2.11.0",
    used="rank 1502 of PyPI's downloads",
    lock="kazoo.client.KazooClient.Semaphore",
    promises={"exclusive_in_process": LEASES, "exclusive": LEASES},
    scenarios=("session_loss",),
)


def use(at):
    """Use the lock in the session of the replica."""
    lock = at.client.Semaphore(f"/{at.key}")
    if lock.acquire(blocking=at.wait_ms > 0, timeout=at.wait_s or None):
        try:
            at.work()
        finally:
            lock.release()


STAGE = LIBRARY.stage(lock=declared(use, errors=(LockTimeout,)), store="zookeeper", ttl_ms=10_000, ttl_step_ms=1000)
