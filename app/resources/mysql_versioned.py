"""A row with a version: the UPDATE names the version that was read, and changes nothing if the row has another version.

The answer to the UPDATE contains LAST_INSERT_ID(expression). So one statement writes, and returns the value that it overwrote.
"""

from __future__ import annotations

import threading

from app.lock import Grant, Refused
from app.resource import Write
from app.stores.mysql import MySQL

MAKE = "INSERT IGNORE INTO counter (name) VALUES (%s)"
READ = "SELECT value, version FROM counter WHERE name = %s"
WRITE = """
    UPDATE counter SET overwrote = LAST_INSERT_ID(value), value = %s, version = version + 1
    WHERE name = %s AND version = %s
"""


class _Read(threading.local):
    version: int = 0


class Counter:
    in_lock_store = True

    def __init__(self, client: MySQL, key: str) -> None:
        self.client = client
        self.key = key
        self.seen = _Read()  # the version that this thread read; the thread writes before it reads again

    def read(self, grant: Grant) -> int:
        value, self.seen.version = self._row()
        return value

    def write(self, value: int | None, grant: Grant) -> Write:
        done = self.client.query(WRITE, value, self.key, self.seen.version)
        if not done.touched:
            raise Refused(f"{self.key} was no longer at version {self.seen.version}")
        return Write(value=value or 0, overwrote=done.last_insert_id)

    def parts(self) -> dict[str, int]:
        return {"": self._row()[0]}

    def _row(self) -> tuple[int, int]:
        rows = self.client.query(READ, self.key).rows
        if not rows:
            self.client.query(MAKE, self.key)
            return 0, 0
        value, version = rows[0]
        return int(value), int(version)
