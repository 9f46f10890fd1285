"""PostgreSQL's advisory locks, by psycopg: the server keeps a lock for a session, under a number that the application chooses.

**Idea** A program that has a database needs no other server for a lock.
"""

from psycopg.errors import LockNotAvailable

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

ABOUT = "https://www.postgresql.org/docs/15/explicit-locking.html#ADVISORY-LOCKS"
FUNCTIONS = "https://www.postgresql.org/docs/15/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS"
EXCLUSIVE = Quote("Obtains an exclusive session-level advisory lock, waiting if necessary.", FUNCTIONS)
HELD = Quote("Once acquired at session level, an advisory lock is held until explicitly released or the session ends.", ABOUT)
ENDS = Quote("implicitly invoked at session end, even if the client disconnects ungracefully", FUNCTIONS)
OWNED = Quote(
    "If the lock was not held, false is returned, and in addition, an SQL warning will be reported by the server.", FUNCTIONS
)
PATIENCE = "SELECT set_config('lock_timeout', %s, false)"
ACQUIRE = "SELECT pg_advisory_lock(hashtextextended(%s, 0))"
RELEASE = "SELECT pg_advisory_unlock(hashtextextended(%s, 0))"

LIBRARY = Library(
    package="psycopg",
    version="3.3.9",
    lock="pg_advisory_lock",
    options="a connection for each request; lock_timeout is how long it waits, and the key is hashed to a number",
    promises={
        "exclusive_in_process": EXCLUSIVE,
        "exclusive": EXCLUSIVE,
        "held_to_the_end": HELD,
        "freed_after_crash": ENDS,
        "releases_only_its_own": OWNED,
    },
    scenarios=("session_loss",),
)


def use(at):
    """Use the lock on a connection of its own."""
    with at.client as connection:
        connection.autocommit = True  # a lock of the session needs no transaction
        connection.execute(PATIENCE, (str(max(at.wait_ms, 1)),))  # 0 would wait without an end
        connection.execute(ACQUIRE, (at.key,))
        at.work()
        if connection.execute(RELEASE, (at.key,)).fetchone() != (True,):
            at.lost()


STAGE = LIBRARY.stage(lock=declared(use, errors=(LockNotAvailable,)), store="postgresql")
