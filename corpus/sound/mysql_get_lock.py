"""Sound: GET_LOCK of the database, on one connection for lock and release."""

from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import mysql_insert


class Lock(mysql_insert.Lock):
    def run(self, work):
        with self.store.transaction():  # the lock belongs to the connection
            if not self.store.execute("SELECT 1 FROM DUAL WHERE GET_LOCK(%s, %s) = 1", self.key, self.wait_ms / 1000):
                raise NotAcquired(self.key, self.wait_ms)
            try:
                return work(Grant(self.key))
            finally:
                self.store.execute("SELECT 1 FROM DUAL WHERE RELEASE_LOCK(%s) = 1", self.key)


STAGE = replace(
    mysql_insert.STAGE,
    lock=Lock,
    claims=claims("exclusive_in_process exclusive held_to_the_end releases_only_its_own counts_once freed_after_crash"),
)
