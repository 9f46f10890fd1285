"""redis-lock of npm: SET NX PX, and a release that deletes the key if its time is not yet over.

**Idea** The holder looks at its own clock, and then deletes.
"""

from app.foreign.library import Library, Quote

README = "https://github.com/errorception/redis-lock/blob/89b6acfc1fca2c5d5ae3e2313227976ce5cf85dc/README.md"
ONE = Quote(
    "It's not possible for two functions to acquire the same lock at any point in time, except if the timeout is breached.",
    README,
)
LIFE = Quote("If this time is exceeded, the lock is automatically released to prevent deadlocks.", README)
LATE = Quote("releases the lock (or do nothing if timeout has already released it)", README)

LIBRARY = Library(
    package="redis-lock",
    version="1.0.0",
    language="JavaScript",
    used="153 thousand downloads a month from npm, seen in November 2026",
    lock="lock",
    options="On node-redis 4.7.1, which its documentation asks for. It waits for ever: the wait of the scenario has no effect.",
    promises={
        "exclusive_in_process": ONE,
        "exclusive": ONE,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "releases_only_its_own": LATE,
        "releases_atomically": LATE,
    },
)
STAGE = LIBRARY.stage(
    worker=[".environments/node/bin/node", "../workers/worker.mjs", "locks/redis_lock.mjs"],
    environment="node",
    key="lock.{key}",
    store="redis",
    ttl_ms=3000,
)
