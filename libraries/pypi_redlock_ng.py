"""The Redlock of redlock-ng, which Redis' own documentation names: five servers, asked one after the other.

**Idea** As redlock-py, and a server without an answer is one vote less. It needs an older redis-py, so the lock is in a worker.
"""

from app.foreign.library import Library, Quote

README = "https://github.com/alwaysvivek/redlock-py"  # the words are those of the README in the package
SHARED = Quote("The lock is considered acquired only if: 1. Quorum (N/2 + 1) instances allow the lock.", README)

LIBRARY = Library(
    package="redlock-ng",
    version="2.0.4",
    used="named by the documentation of Redis, as one implementation in Python",
    lock="redlock.Redlock",
    options="It sleeps 100 to 300 ms between tries, its default; retry_count=0, and asked again until the wait is over",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "available_with_a_node_down": Quote("Resilient to single node failures.", README),
    },
    scenarios=("node_down",),
)
STAGE = LIBRARY.stage(
    worker=[".environments/redlock_ng/bin/python", "../workers/worker.py", "locks/redlock_ng.py"],
    environment="redlock_ng",
    store="redis_nodes",
    ttl_ms=3000,
)
