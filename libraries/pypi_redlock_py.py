"""The Redlock of redlock-py: five servers, asked one after the other.

**Idea** The algorithm of Redlock in its shortest form, as its description has it.
"""

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

README = "https://github.com/SPSCommerce/redlock-py/blob/42ef491061c3790307d39356b307c4318032c439/README.md"
SHARED = Quote(
    "This python lib implements the Redis-based distributed lock manager algorithm described in this blog post", README
)

LIBRARY = Library(
    package="redlock-py",
    version="1.0.8",
    used="rank 4469 of PyPI's downloads",
    lock="redlock.Redlock",
    options="It sleeps 200 ms after a try, its default; retry_count=1, and asked again until the wait is over",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_crash": Quote("1000 is the number of milliseconds for the validity time.", README),
        "releases_only_its_own": Quote("key, a random value which is used to safe reclaim the lock.", README),
    },
    scenarios=("node_down",),
)


def use(at):
    """Lock a key. The library does not say whether the lock had been lost."""
    from redlock import Redlock

    manager = Redlock(at.client, retry_count=1)
    if held := manager.lock(at.key, at.ttl_ms):
        try:
            at.work()
        finally:
            manager.unlock(held)


STAGE = LIBRARY.stage(lock=declared(use), store="redis_nodes", ttl_ms=3000, environment="redlock_py")
