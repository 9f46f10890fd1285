"""The lock of sqlalchemy-dlock on PostgreSQL: an advisory lock of the connection, asked for again and again.

**Idea** A program with SQLAlchemy has a connection already, and the lock lives as long as that.
"""

from functools import cache

from sqlalchemy import URL, create_engine

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

README = "https://github.com/tanbro/sqlalchemy-dlock/blob/v0.9.0/README.md"
CODE = "https://github.com/tanbro/sqlalchemy-dlock/blob/v0.9.0/src/sqlalchemy_dlock/lock/base.py"
EXCLUSIVE = Quote("Prevent multiple workers from processing the same task simultaneously", README)
INTERVAL_S = 0.1  # the shortest pause between two tries

LIBRARY = Library(
    package="sqlalchemy-dlock",
    version="0.9.0",
    lock="sqlalchemy_dlock.create_sadlock",
    options="on psycopg; a pool of 32 connections, one for each thread; 0.1 s between two tries, the least (the default is 1 s)",
    promises={
        "exclusive_in_process": EXCLUSIVE,
        "exclusive": EXCLUSIVE,
        "held_to_the_end": Quote("Held until manually released or session ends", README),
        "freed_after_crash": Quote("Locks are automatically released when the database connection is lost.", README),
        "releases_only_its_own": Quote("nor can it be called from another connection", CODE),
    },
    scenarios=("session_loss",),
)


@cache
def engine_of(store):
    """Return the engine of this process, with connections of its own."""
    about = store.parameters
    query = {"application_name": about["application_name"]}
    where = {"username": about["user"], "host": about["host"], "port": about["port"], "database": about["dbname"]}
    url = URL.create("postgresql+psycopg", **where, query=query)
    return create_engine(url, pool_size=32)


def use(at):
    """Use the lock on a connection of the pool."""
    from sqlalchemy_dlock import create_sadlock

    with engine_of(at.lock.store).connect() as connection:
        lock = create_sadlock(connection, at.key)
        if lock.acquire(timeout=at.wait_s, interval=INTERVAL_S):
            try:
                at.work()
            finally:
                lock.release()


STAGE = LIBRARY.stage(lock=declared(use), store="postgresql", environment="sqlalchemy_dlock")
