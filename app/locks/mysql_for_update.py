"""A row lock of MariaDB around the work: SELECT … FOR UPDATE, in one transaction.

**Problem** A mutex works in one process only: requests at two replicas still overwrite each other's increments.
**Idea** The database has a lock for each row, and it belongs to a transaction: when the transaction ends, in any way, the
lock is free. A later request waits in the database's queue. The number is in the same database, and is read and written in
the same transaction. So a transaction that ends too early undoes all of its writes, and no holder needs a fence.
**Source** MySQL Reference Manual, InnoDB, "Locking Reads". The limit of the wait is MariaDB's own statement, SET STATEMENT.
**Still**
- Each holder and each waiter needs a connection, and an open transaction for as long as the work takes.
- The database is one server: while it is down, no request gets the lock.
- A thread that hangs in a living process keeps its row: its transaction stays open.
- Only what is written in that transaction is protected: the row lock does not know what the work does elsewhere.
- Each request takes a lock, although most requests would not have met another request.
**See it**
- `lab run rush --stage mysql_for_update`
- `lab run session_loss --stage mysql_for_update`
- `lab run nested_two_locks --stage mysql_for_update`
- `lab diff local mysql_for_update`
"""

import time

from app.lock import Grant, NotAcquired, Stage

LOCK = "SET STATEMENT max_statement_time = %s FOR SELECT lock_name FROM lock_table WHERE lock_name = %s FOR UPDATE"
MAKE = "SET STATEMENT max_statement_time = %s FOR INSERT IGNORE INTO lock_table (lock_name) VALUES (%s)"


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.wait_ms = wait_ms

    def run(self, work):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while True:
            try:
                with self.store.transaction():  # the transaction of this thread, if it is in one already
                    self.acquire()
                    return work(Grant(self.key))
            except self.store.Deadlock:  # the transaction was undone: begin again, unless an outer call began it
                if self.store.in_transaction or time.monotonic() > deadline_s:
                    raise

    def acquire(self):
        within_s = max(self.wait_ms, 1) / 1000  # zero would mean no limit
        try:
            while not self.store.execute(LOCK, within_s, self.key):  # only a row that exists can be locked
                self.store.execute(MAKE, within_s, self.key)
        except self.store.TimedOut:
            raise NotAcquired(self.key, self.wait_ms) from None


STAGE = Stage(
    lock=Lock,
    follows="local",
    store="mysql",
    resource="mysql_row",
    gains="""
        exclusive
        acquires_atomically
        survives_a_freeze
        survives_a_late_freeze
        survives_a_delayed_write
        survives_a_lost_reply
        survives_persisted_restart
        survives_session_loss
        freed_after_crash
        freed_with_a_clock_behind
        freed_after_failure
        reentrant
        breaks_deadlock
        prompt_handover
        fair
        fair_in_process
        all_or_nothing
        survives_clock_jump
        waiters_may_leave
        freed_after_a_failed_release
        freed_after_a_lost_release
    """,
)
