"""The Redlock of aioredlock: five servers, asked all at once in an event loop; a watchdog renews the lock.

**Idea** Redlock for asyncio. It needs aioredis, which is part of redis-py today, so the lock is in a worker.
"""

from app.foreign.library import Library, Quote

README = "https://github.com/joanvila/aioredlock/blob/0.7.3/README.rst"
SHARED = Quote("The redlock algorithm is a distributed lock implementation for Redis_.", README)

LIBRARY = Library(
    package="aioredlock",
    version="0.7.3",
    used="rank 12262 of PyPI's downloads",
    lock="aioredlock.Aioredlock",
    options=(
        "lock() without lock_timeout, as by default: its watchdog renews the lock, and internal_lock_timeout is the TTL. It "
        "gives up after 3 tries, its default, and is asked again until the wait is over"
    ),
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "held_to_the_end": Quote("From that moment, the lock is valid until the ``unlock`` function is called", README),
    },
    scenarios=("node_down",),
)
STAGE = LIBRARY.stage(
    worker=[".environments/aioredlock/bin/python", "../workers/worker.py", "locks/aioredlock_nodes.py"],
    environment="aioredlock",
    store="redis_nodes",
    ttl_ms=3000,
)
