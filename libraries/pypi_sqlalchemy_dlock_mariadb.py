"""The lock of sqlalchemy-dlock on MariaDB: GET_LOCK, a lock by name that belongs to the connection.

**Idea** As on PostgreSQL. The server lets a waiter wait, so nobody asks again and again.
"""

from functools import cache

from sqlalchemy import create_engine

from app.foreign.library import Library, Quote
from app.lock import Grant, NotAcquired

README = "https://github.com/tanbro/sqlalchemy-dlock/blob/v0.9.0/README.md"
CODE = "https://github.com/tanbro/sqlalchemy-dlock/blob/v0.9.0/src/sqlalchemy_dlock/lock/mysql.py"
EXCLUSIVE = Quote("Prevent multiple workers from processing the same task simultaneously", README)
LONGEST = 64  # characters of a name

LIBRARY = Library(
    package="sqlalchemy-dlock",
    version="0.9.0",
    lock="sqlalchemy_dlock.create_sadlock",
    options="on PyMySQL; a pool of 32 connections, one for each thread; the end of the key, for a name has at most 64 characters",
    promises={
        "exclusive_in_process": EXCLUSIVE,
        "exclusive": EXCLUSIVE,
        "freed_after_crash": Quote("Locks are automatically released when the database connection is lost.", README),
        "releases_only_its_own": Quote("was not established by this thread, and the lock is not released.", CODE),
    },
    scenarios=("session_loss",),
)


@cache
def engine_of(store):
    """Return the engine of this process."""
    return create_engine("mysql+pymysql://", creator=lambda: store.plain(autocommit=False), pool_size=32)


class Lock:
    """The lock, on a connection of the pool."""

    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store, self.key, self.wait_ms = store, key, wait_ms

    def run(self, work):
        """Acquire, work, release."""
        from sqlalchemy_dlock import create_sadlock

        with engine_of(self.store).connect() as connection:
            lock = create_sadlock(connection, self.key[-LONGEST:])
            if not lock.acquire(timeout=self.wait_ms / 1000):
                raise NotAcquired(self.key, self.wait_ms)
            try:
                return work(Grant(self.key))
            finally:
                lock.release()


STAGE = LIBRARY.stage(lock=Lock, store="mysql", environment="sqlalchemy_dlock")
