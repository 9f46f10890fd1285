"""SELECT, then UPDATE, of a row in the lock's database, within the lock's transaction if there is one.

The answer to the UPDATE contains LAST_INSERT_ID(expression). So one statement writes, and returns the value that it overwrote.
"""

from __future__ import annotations

from app.lock import Grant
from app.resource import Write
from app.stores.mysql import MySQL

MAKE = "INSERT IGNORE INTO counter (name) VALUES (%s)"
READ = "SELECT value FROM counter WHERE name = %s"
WRITE = "UPDATE counter SET overwrote = LAST_INSERT_ID(value), value = %s WHERE name = %s"


class Counter:
    in_lock_store = True

    def __init__(self, client: MySQL, key: str) -> None:
        self.client = client
        self.key = key

    def read(self, grant: Grant) -> int:
        rows = self.client.query(READ, self.key).rows
        if not rows:
            self.client.query(MAKE, self.key)
        return int(rows[0][0]) if rows else 0

    def write(self, value: int | None, grant: Grant) -> Write:
        done = self.client.query(WRITE, value, self.key)
        if not done.touched:  # no read has made the row: a receipt is only written
            self.client.query(MAKE, self.key)
            done = self.client.query(WRITE, value, self.key)
        return Write(value=value or 0, overwrote=done.last_insert_id, pending=self.client.in_transaction)

    def parts(self) -> dict[str, int]:
        rows = self.client.query(READ, self.key).rows
        return {"": int(rows[0][0]) if rows else 0}
