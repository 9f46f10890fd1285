"""PostgreSQL's advisory locks, by psycopg: the server keeps a lock for a session, under a number that the application chooses.

**Idea** A program that has a database needs no other server for a lock.
"""

from app.foreign.library import Library, Quote
from app.lock import Grant, NotAcquired, NotOwner

ABOUT = "https://www.postgresql.org/docs/15/explicit-locking.html#ADVISORY-LOCKS"
FUNCTIONS = "https://www.postgresql.org/docs/15/functions-admin.html#FUNCTIONS-ADVISORY-LOCKS"
EXCLUSIVE = Quote("Obtains an exclusive session-level advisory lock, waiting if necessary.", FUNCTIONS)
HELD = Quote("Once acquired at session level, an advisory lock is held until explicitly released or the session ends.", ABOUT)
ENDS = Quote("implicitly invoked at session end, even if the client disconnects ungracefully", FUNCTIONS)
OWNED = Quote(
    "If the lock was not held, false is returned, and in addition, an SQL warning will be reported by the server.", FUNCTIONS
)
NOT_FREE = "55P03"  # the error for a lock that was not free within lock_timeout
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


class Lock:
    """The lock, on a connection of its own."""

    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store, self.key, self.wait_ms = store, key, wait_ms

    def run(self, work):
        """Acquire, work, release."""
        options = f"-c lock_timeout={max(self.wait_ms, 1)}"  # 0 would wait without an end
        with self.store.plain(options=options) as connection:
            self.acquire(connection)
            result = work(Grant(self.key))
            if connection.execute(RELEASE, (self.key,)).fetchone() != (True,):
                raise NotOwner(self.key, "this session")
            return result

    def acquire(self, connection):
        """Wait for the lock. Raises NotAcquired."""
        try:
            connection.execute(ACQUIRE, (self.key,))
        except self.store.Error as error:
            if error.sqlstate == NOT_FREE:
                raise NotAcquired(self.key, self.wait_ms) from error
            raise


STAGE = LIBRARY.stage(lock=Lock, store="postgresql")
