"""The Redlock of pottery: five servers, asked all at once by a pool of threads.

**Idea** Redlock without the sum of all time-outs: the first three answers decide.
"""

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

README = "https://github.com/brainix/pottery/blob/v3.0.1/README.md#redlock-"
SHARED = Quote(
    "a safe and reliable lock to coordinate access to a resource shared across threads, processes, and even machines", README
)
UP = Quote("you can lose up to 2 out of the 5 Redis masters and your `Redlock` will remain available and performant", README)
FREED = Quote(
    "to avoid deadlocks (in the event that a process dies inside a critical section before it releases its lock)", README
)

LIBRARY = Library(
    package="pottery",
    version="3.0.1",
    used="rank 6503 of PyPI's downloads",
    lock="pottery.Redlock",
    options="It sleeps a random time of up to 200 ms between two tries, its default: it has no option for that",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_crash": FREED,
        "freed_after_hang": Quote("`Redlock`s are automatically released (by default, after 10 seconds).", README),
        "available_with_a_node_down": UP,
        "available_with_two_nodes_down": UP,
    },
    scenarios=("node_down",),
)


def use(at):
    """Use the lock with the servers' clients."""
    from pottery import Redlock, ReleaseUnlockedLock

    lock = Redlock(key=at.key, masters=set(at.client), auto_release_time=at.ttl_s)
    if lock.acquire(timeout=at.wait_s):
        try:
            at.work()
        finally:
            try:
                lock.release()
            except ReleaseUnlockedLock:
                at.lost()


STAGE = LIBRARY.stage(lock=declared(use, key="redlock:{key}"), store="redis_nodes", ttl_ms=3000, environment="pottery")
