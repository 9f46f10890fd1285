"""The lock of fencekit: one script sets the key with the owner, and counts up a fencing token.

**Idea** The lock and its fence are made in one step: no holder is without a token.
"""

from datetime import timedelta

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

README = "https://github.com/ahmed5145/fencekit/blob/v0.6.1/README.md#guarantees"
CODE = "https://github.com/ahmed5145/fencekit/blob/v0.6.1/src/fencekit/lock.py"
DESIGN = "https://github.com/ahmed5145/fencekit/blob/v0.6.1/DESIGN.md"
SHARED = Quote("Mutual exclusion while lock TTL held (single Redis primary) | Best-effort lease", README)
ONE_STEP = Quote(
    "Acquire uses a Lua script that ``SET``s the lock ``NX PX`` and ``INCR``s the fence sequence in one atomic step.", CODE
)
OWNED = Quote("Release/extend only succeed if the caller still owns the lock key.", CODE)

LIBRARY = Library(
    package="fencekit",
    version="0.6.1",
    lock="fencekit.DistributedLock",
    options="blocking=True: by default it does not wait. Its fences are not checked: the counter takes any write",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "acquires_atomically": ONE_STEP,
        "freed_after_crash": Quote("Kill while lock valid: lock remains until TTL", DESIGN),
        "releases_only_its_own": OWNED,
        "releases_atomically": Quote("Release and extend compare ownership in the same script as the mutation", DESIGN),
    },
)


def use(at):
    """Use the lock of one resource."""
    from fencekit import DistributedLock, LockNotAcquired, LockNotOwned

    lock = DistributedLock(at.client)
    times = {
        "ttl": timedelta(seconds=at.ttl_s),
        "wait": timedelta(seconds=at.wait_s),
        "retry_interval": timedelta(seconds=at.retry_s),
    }
    try:
        handle = lock.acquire(at.key, blocking=True, **times)
    except LockNotAcquired:
        return
    try:
        at.work(fence=handle.token.value)
    finally:
        try:
            lock.release(handle)
        except LockNotOwned:
            at.lost()


STAGE = LIBRARY.stage(lock=declared(use, key="fencekit:lock:{key}"), store="redis", ttl_ms=3000, environment="fencekit")
