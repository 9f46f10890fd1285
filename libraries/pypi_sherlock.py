"""The lock of sherlock on Redis: a script sets the key and its expiry; another compares the owner at the release.

**Idea** One lock for several stores. Its Redis client is of an old version, so the lock is in a worker.
"""

from app.foreign.library import Library, Quote

README = "https://github.com/py-sherlock/sherlock/blob/v0.4.1/README.rst"
CODE = "https://github.com/py-sherlock/sherlock/blob/v0.4.1/sherlock/lock.py"
OWNED = Quote("Lock could not be released because it was not acquired by this instance.", CODE)

LIBRARY = Library(
    package="sherlock",
    version="0.4.1",
    lock="sherlock.RedisLock",
    options="expire, in whole seconds: EXPIRE takes no others",
    promises={
        "exclusive_in_process": Quote(
            "It provides an easy-to-use API that resembles standard library's `threading.Lock` semantics.", README
        ),
        "exclusive": Quote("Sherlock is a library that provides easy-to-use distributed inter-process locks", README),
        "freed_after_crash": Quote("set lock expiry time. If explicitly set to `None`, lock will not expire.", CODE),
        "releases_only_its_own": OWNED,
        "releases_atomically": OWNED,
    },
)
STAGE = LIBRARY.stage(
    worker=[".environments/sherlock/bin/python", "../workers/worker.py", "locks/sherlock_redis.py"],
    environment="sherlock",
    store="redis",
    ttl_ms=3000,
    ttl_step_ms=1000,
)
