"""The lock of sqlalchemy-dlock on MariaDB: GET_LOCK, a lock by name that belongs to the connection.

**Idea** As on PostgreSQL. The server lets a waiter wait, so nobody asks again and again.
"""

from functools import cache

from sqlalchemy import create_engine

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

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


def use(at):
    """Use the lock on a connection of the pool."""
    from sqlalchemy_dlock import create_sadlock

    with engine_of(at.lock.store).connect() as connection:
        lock = create_sadlock(connection, at.key[-LONGEST:])
        if lock.acquire(timeout=at.wait_s):
            try:
                at.work()
            finally:
                lock.release()


STAGE = LIBRARY.stage(lock=declared(use), store="mysql", environment="sqlalchemy_dlock")
