"""Broken: a transaction reads the row of the lock, but not FOR UPDATE, so no other transaction waits."""

from dataclasses import replace

from app.locks import mysql_for_update

LOOK = "SELECT lock_name FROM lock_table WHERE lock_name = %s"


class Lock(mysql_for_update.Lock):
    def acquire(self):
        while not self.store.execute(LOOK, self.key):
            self.store.execute(mysql_for_update.MAKE, 10, self.key)


STAGE = replace(mysql_for_update.STAGE, lock=Lock)
