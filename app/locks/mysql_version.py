"""No lock, but a version: a write names the version that was read, and is refused if the row has another (optimistic).

**Problem** A mutex works in one process only: requests at two replicas still overwrite each other's increments.
**Idea** Each write increases the version of the row, and names the version that was read: compare and set, in one UPDATE. A
request that comes second changes no row, and does the work again from the new value. No request holds anything, so none can
lose it.
**Source** H. T. Kung, J. T. Robinson, "On Optimistic Methods for Concurrency Control" (1981).
**Still**
- A refused request does the whole work again, also everything that it did outside that row.
- The more requests try at once, the more are refused. A request that is always a little slower starves, and fails in the end.
- Only what is in that one row is compared.
**See it**
- `lab run rush --stage mysql_version`
- `lab run frozen_before_write --stage mysql_version`
- `lab diff local mysql_version`
"""

import time

from app.lock import Grant, Refused, Stage

TRIES = 1000


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms

    def run(self, work):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        tries_left = TRIES
        while True:
            tries_left -= 1
            try:
                return work(Grant(key=""))
            except Refused:
                if not tries_left or time.monotonic() > deadline_s:
                    raise
            time.sleep(self.retry_ms / 1000)


STAGE = Stage(
    lock=Lock,
    follows="local",
    store="mysql",
    resource="mysql_versioned",
    gains="""
        exclusive
        survives_a_freeze
        survives_a_late_freeze
        survives_a_delayed_write
        survives_persisted_restart
        survives_session_loss
    """,
    loses="held_to_the_end answers_a_try_at_once",
)
