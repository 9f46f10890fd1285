"""A row in MariaDB is the lock: its unique key lets only one request insert it.

**Problem** A mutex works in one process only: requests at two replicas still overwrite each other's increments.
**Idea** All replicas share one row in a database, under a unique key. A request that inserts the row has the lock, and
deletes the row when the work is done. For all other requests the INSERT fails with a duplicate key: they sleep and try again.
**Still**
- A holder that dies never deletes the row: it is on disk, and no request gets the lock again.
- The database is one server: while it is down, no request gets the lock.
- Waiters poll: each try is a statement, and a free lock stays unused until the sleep of a waiter ends.
- The error of a duplicate key looks like a nuisance, and the clause that removes the error removes the lock.
**See it**
- `lab run rush --stage mysql_insert`
- `lab run holder_crash --stage mysql_insert`
- `lab diff local mysql_insert`
"""

import time

from app.lock import Grant, NotAcquired, Stage

INSERT = "INSERT INTO lock_table (lock_name) VALUES (%s)"
DELETE = "DELETE FROM lock_table WHERE lock_name = %s"


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key))
        finally:
            self.release()

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.inserted():
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def inserted(self):
        try:
            return self.store.execute(INSERT, self.key)
        except (self.store.Duplicate, self.store.Deadlock):  # inserts around a delete can deadlock: this insert was undone
            return False

    def release(self):
        self.store.execute(DELETE, self.key)


STAGE = Stage(
    lock=Lock,
    follows="local",
    store="mysql",
    gains="""
        exclusive
        survives_a_freeze
        survives_a_late_freeze
        survives_persisted_restart
        survives_session_loss
        all_or_nothing
        survives_clock_jump
        waiters_may_leave
        freed_after_failure
        freed_after_a_lost_release
    """,
)
