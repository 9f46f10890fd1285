"""simple-redis-mutex: SET NX PX with a random value, and a message at each release that wakes the waiters.

**Idea** A waiter listens, and asks again when a lock was released.
"""

from app.foreign.library import Library, Quote

README = "https://github.com/AmrSaber/simple-redis-mutex/blob/v3.0.0/readme.md"
MUTEX = Quote("Implements distributed mutex lock using redis", README)

LIBRARY = Library(
    package="simple-redis-mutex",
    version="3.0.0",
    language="JavaScript",
    used="66 thousand downloads a month from npm, seen in November 2026",
    lock="lock",
    options="On node-redis 5.12.1, with a client for each request in flight; its documentation asks for one a process: "
    "so the lab knows whose command is whose. pollingInterval is the retry of the scenario.",
    promises={
        "exclusive_in_process": MUTEX,
        "exclusive": MUTEX,
        "freed_after_crash": Quote("This is to prevent crashed processes holding the lock indefinitely.", README),
        "freed_after_hang": Quote("Lock timeout is used to expire the lock if it's not been released before `timeout`.", README),
        "releases_only_its_own": Quote(
            "an expired lock cannot be released so it does not release the lock from another holder", README
        ),
        "releases_atomically": Quote(
            "an expired lock cannot be released so it does not release the lock from another holder", README
        ),
        "prompt_handover": Quote(
            "released lock can be immediately acquired by another waiting process instead of depending on polling", README
        ),
        "answers_a_try_at_once": Quote("Try to acquire the lock, if failed will return immediately.", README),
    },
)
STAGE = LIBRARY.stage(
    worker=[".environments/node/bin/node", "../workers/worker.mjs", "locks/simple_redis_mutex.mjs"],
    environment="node",
    key="@simple-redis-mutex:lock-{key}",
    store="redis",
    ttl_ms=3000,
)
