"""The Mutex of redis-semaphore: SET NX PX with an identifier, refreshed while it is held.

**Idea** A timer in the holder puts the end of the lock off.
"""

from app.foreign.library import Library, Quote

README = "https://github.com/swarthy/redis-semaphore/blob/v5.8.0/README.md"
MUTEX = Quote("Mutex and Semaphore implementations based on Redis ready for distributed systems", README)

LIBRARY = Library(
    package="redis-semaphore",
    version="5.8.0",
    language="JavaScript",
    used="1.28 million downloads a month from npm, seen in November 2026",
    lock="Mutex",
    options="On ioredis 5.11.1. onLockLost writes to the log, as in the documentation's example: by default it ends the program.",
    promises={
        "exclusive_in_process": MUTEX,
        "exclusive": MUTEX,
        "held_to_the_end": Quote("auto-refresh interval; to disable auto-refresh behaviour set `0`", README),
        "freed_after_crash": Quote("time after mutex will be auto released (expired)", README),
        "releases_only_its_own": Quote(
            "because if lock is no longer belongs to this mutex, .release() will have no effect",
            README,
        ),
        "releases_atomically": Quote("Fail-safe (all actions performed by LUA scripts (atomic))", README),
    },
)
STAGE = LIBRARY.stage(
    worker=[".environments/node/bin/node", "../workers/worker.mjs", "locks/redis_semaphore.mjs"],
    environment="node",
    key="mutex:{key}",
    store="redis",
    ttl_ms=3000,
)
