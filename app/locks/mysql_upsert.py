"""Detour: no error for a duplicate key, as one document prints it.

**Problem** The error of a duplicate key looks like something to be rid of, and the clause that removes it removes the lock.
**Idea** `INSERT … ON DUPLICATE KEY UPDATE lock_name = lock_name`: where the row is there already, the statement changes
nothing, and succeeds.
**Still**
- It succeeds for everybody: nobody ever waits, and whoever is done first deletes the row that all of them share.
- Only the number of rows it touched tells the one who inserted from those who did not; and nobody looks at it.
**See it**
- `lab run rush --stage mysql_upsert`
- `lab diff mysql_insert mysql_upsert`
"""

from app.lock import Grant, Stage

UPSERT = "INSERT INTO lock_table (lock_name) VALUES (%s) ON DUPLICATE KEY UPDATE lock_name = lock_name"
DELETE = "DELETE FROM lock_table WHERE lock_name = %s"


class MySQLUpsert:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key

    def run(self, work):
        self.acquire()
        result = work(Grant(self.key))
        self.release()
        return result

    def acquire(self):
        self.store.execute(UPSERT, self.key)

    def release(self):
        self.store.execute(DELETE, self.key)


STAGE = Stage(
    lock=MySQLUpsert,
    follows="mysql_insert",
    store="mysql",
)
