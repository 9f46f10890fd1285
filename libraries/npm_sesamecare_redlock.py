"""The package that continues redlock 5 of npm.

**Idea** A derivative of redlock, written anew for ioredis 5.
"""

from app.foreign.library import Library, Quote

README = "https://github.com/sesamecare/redlock/blob/v1.4.0/README.md"
CODE = "https://github.com/sesamecare/redlock/blob/v1.4.0/src/index.ts"
SCRIPTS = "https://github.com/sesamecare/redlock/blob/v1.4.0/src/scripts.ts"
STRONG = Quote("It provides strong guarantees in both single-redis and multi-redis environments", README)
LIFE = Quote("This method acquires a locks on the resources for the duration specified by the `duration`.", CODE)
OWNED = Quote("Only remove entries for *this* lock value.", SCRIPTS)
MINORITY = Quote("it does not care if a minority of redis instances/clusters fail at an operation", README)

LIBRARY = Library(
    package="@sesamecare-oss/redlock",
    version="1.4.0",
    language="JavaScript",
    used="455 thousand downloads a month from npm, seen in November 2026",
    lock="Redlock.acquire",
    options="On ioredis 5.11.1 with its defaults: a command for a server that is down waits for up to 20 reconnections. "
    "The wait gives retryCount; retryDelay is the default, 200 ms, and not the retry of the scenario.",
    promises={
        "exclusive_in_process": STRONG,
        "exclusive": STRONG,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "freed_after_a_failed_release": Quote(
            "It is safe to re-attempt a release or to ignore the error, as the lock will automatically expire after its timeout.",
            CODE,
        ),
        "releases_only_its_own": OWNED,
        "releases_atomically": OWNED,
        "available_with_a_node_down": MINORITY,
        "available_with_two_nodes_down": MINORITY,
        "refuses_without_majority": Quote(
            "if you are on the smaller side of a network partition you will fail to acquire a lock", README
        ),
        "survives_amnesia": Quote(
            "by requiring consensus between them, we can safely take out or fail-over a minority of nodes "
            "without invalidating active locks.",
            README,
        ),
    },
)
STAGE = LIBRARY.stage(
    worker=[".environments/node/bin/node", "../workers/worker.mjs", "locks/redlock_5.mjs", "package=@sesamecare-oss/redlock"],
    environment="node",
    store="redis_nodes",
    ttl_ms=3000,
)
