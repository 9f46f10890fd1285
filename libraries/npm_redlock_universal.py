"""redlock-universal on one Redis: SET NX PX with a random value, extended while the routine runs.

**Idea** The recommended way to use it hands the lock a routine.
"""

from app.foreign.library import Library, Quote

HOME = "https://github.com/alexpota/redlock-universal/blob/v0.8.5"
README = f"{HOME}/README.md"
UNIVERSAL = Quote("Universal distributed locks for Redis and Valkey", README)
CLEAN = Quote("Auto-extends lock and guarantees cleanup", README)
SAFE = Quote("Script to safely release a lock (check value before delete)", f"{HOME}/src/constants.ts")

LIBRARY = Library(
    package="redlock-universal",
    version="0.8.5",
    language="JavaScript",
    used="70 thousand downloads a month from npm, seen in November 2026",
    lock="createLock(…).using",
    options="On ioredis 5.11.1. The wait gives retryAttempts.",
    promises={
        "exclusive_in_process": UNIVERSAL,
        "exclusive": UNIVERSAL,
        "held_to_the_end": CLEAN,
        "freed_after_failure": CLEAN,
        "freed_after_crash": Quote("long enough for work, short enough for quick recovery", README),
        "releases_only_its_own": SAFE,
        "releases_atomically": SAFE,
    },
)
STAGE = LIBRARY.stage(
    worker=[".environments/node/bin/node", "../workers/worker.mjs", "locks/redlock_universal.mjs"],
    environment="node",
    key="{key}",
    store="redis",
    ttl_ms=3000,
)
