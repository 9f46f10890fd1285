"""A row lock: SELECT … FOR UPDATE, in one transaction with the work (pessimistic).

**Problem** Another replica has a mutex of its own and never sees this one.
**Idea** The database has locks of its own, one for each row, and each belongs to a transaction: it ends with it, however it
ends. Whoever comes later waits in the database's queue. The number is in the same database, read and written in the same
transaction, so a transaction that ends too early takes its write with it.
**Still**
- Each holder and each waiter keeps a connection, and a transaction open for as long as the work takes.
- Only what is written in that transaction is protected: the row lock knows nothing of what the work does elsewhere.
- A lock is needed although most writes would have met nobody.
**See it**
- `lab run rush --stage mysql_for_update`
- `lab run session_loss --stage mysql_for_update`
- `lab run nested_two_locks --stage mysql_for_update`
- `lab diff local mysql_for_update`
"""

import time

from app.lock import Grant, NotAcquired, Stage, claims

LOCK = "SET STATEMENT max_statement_time = %s FOR SELECT lock_name FROM lock_table WHERE lock_name = %s FOR UPDATE"
MAKE = "SET STATEMENT max_statement_time = %s FOR INSERT IGNORE INTO lock_table (lock_name) VALUES (%s)"


class MySQLForUpdate:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.wait_ms = wait_ms

    def run(self, work):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while True:
            try:
                with self.store.transaction():  # the one this thread is in, if it is in one
                    self.acquire()
                    return work(Grant(self.key))
            except self.store.Deadlock:  # the whole transaction was undone: begin it again, unless it is another's
                if self.store.in_transaction or time.monotonic() > deadline_s:
                    raise

    def acquire(self):
        within_s = max(self.wait_ms, 1) / 1000  # nought would be for ever
        try:
            while not self.store.execute(LOCK, within_s, self.key):  # a row that is not there cannot be locked
                self.store.execute(MAKE, within_s, self.key)
        except self.store.TimedOut:
            raise NotAcquired(self.key, self.wait_ms) from None


STAGE = Stage(
    lock=MySQLForUpdate,
    follows="local",
    store="mysql",
    resource="mysql_row",
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        held_to_the_end
        counts_once
        survives_a_freeze
        survives_a_late_freeze
        survives_a_lost_reply
        survives_persisted_restart
        survives_session_loss
        freed_after_crash
        freed_after_thread_death
        reentrant
        breaks_deadlock
        prompt_handover
        fair
        answers_a_try_at_once
    """),
)
