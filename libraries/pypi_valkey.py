"""The lock of valkey-py, a fork of redis-py's.

**Idea** As redis-py's lock, by a client that sends its commands without redis-py.
"""

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

CODE = "https://github.com/valkey-io/valkey-py/blob/v6.2.0/valkey/lock.py"
SHARED = Quote(
    "A shared, distributed Lock. Using Valkey for locking allows the Lock to be shared across processes and/or machines.", CODE
)
LIFE = Quote("``timeout`` indicates a maximum life for the lock in seconds.", CODE)
OWNED = Quote("Cannot release a lock that's no longer owned", CODE)

LIBRARY = Library(
    package="valkey",
    version="6.2.0",
    used="rank 2245 of PyPI's downloads",
    lock="valkey.lock.Lock",
    promises={
        "exclusive_in_process": SHARED,
        "exclusive": SHARED,
        "freed_after_crash": LIFE,
        "freed_after_hang": LIFE,
        "releases_only_its_own": OWNED,
        "releases_atomically": OWNED,
    },
)


def use(at):
    """Use the lock with a client of the library."""
    from valkey import Valkey
    from valkey.exceptions import LockError

    lock = Valkey(host=at.host, port=at.port).lock(at.key, timeout=at.ttl_s, sleep=at.retry_s, blocking_timeout=at.wait_s)
    if lock.acquire():
        try:
            at.work()
        finally:
            try:
                lock.release()
            except LockError:
                at.lost()


STAGE = LIBRARY.stage(lock=declared(use), store="redis", ttl_ms=3000, environment="valkey", by_lane=True)
