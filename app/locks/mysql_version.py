"""No lock, but a look: the write says which version it was made from, and is refused when that is gone (optimistic).

**Problem** Another replica has a mutex of its own and never sees this one.
**Idea** Each write counts the row's version up, and names the version it has read: compare and set, in one UPDATE. Whoever
comes second touches no row, and does the work again from the new value. Nobody holds anything, so nobody can lose it.
**Still**
- Who is refused does the whole work again, and everything it did outside that row with it.
- The more try at once, the more are refused; whoever is always a little slower starves, and fails in the end.
- Only what is in that one row is compared.
**See it**
- `lab run rush --stage mysql_version`
- `lab run frozen_before_write --stage mysql_version`
- `lab diff local mysql_version`
"""

import time

from app.lock import Grant, Refused, Stage, claims

TRIES = 1000


class MySQLVersion:
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
    lock=MySQLVersion,
    follows="local",
    store="mysql",
    resource="mysql_versioned",
    claims=claims("""
        exclusive_in_process
        exclusive
        counts_once
        survives_a_freeze
        survives_a_late_freeze
        survives_persisted_restart
        survives_session_loss
        reentrant
    """),
)
