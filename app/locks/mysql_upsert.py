"""Detour: the INSERT succeeds for everyone: if the row of the lock exists, it changes nothing.

**Problem** The error of a duplicate key looks like a nuisance, and the clause that removes the error removes the lock.
**Idea** `INSERT … ON DUPLICATE KEY UPDATE lock_name = lock_name`: if the row exists already, the statement changes nothing
and succeeds. It is a transaction of its own (autocommit), so it keeps no row locked.
**Still**
- It succeeds for every request: no request waits, and the first that is done deletes the row that all of them share.
- In one transaction with the work, the same statement would be a lock: a second request would wait for the row until the commit.
- Only the number of changed rows shows which request inserted the row, and the code does not look at it.
**See it**
- `lab run rush --stage mysql_upsert`
- `lab diff mysql_insert mysql_upsert`
"""

from app.lock import Grant, Stage

UPSERT = "INSERT INTO lock_table (lock_name) VALUES (%s) ON DUPLICATE KEY UPDATE lock_name = lock_name"
DELETE = "DELETE FROM lock_table WHERE lock_name = %s"


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key

    def run(self, work):
        self.acquire()
        try:
            return work(Grant(self.key))
        finally:
            self.release()

    def acquire(self):
        self.store.execute(UPSERT, self.key)

    def release(self):
        self.store.execute(DELETE, self.key)


STAGE = Stage(
    lock=Lock,
    follows="mysql_insert",
    store="mysql",
    loses="""
        exclusive_in_process
        exclusive
        held_to_the_end
        counts_once
        survives_a_freeze
        survives_a_late_freeze
        all_or_nothing
        answers_a_try_at_once
        survives_clock_jump
        freed_after_a_lost_release
        survives_persisted_restart
        survives_session_loss
        waiters_may_leave
        freed_after_failure
    """,
)
