"""Broken: GET_LOCK answers with one row, a 1 or a 0, and the row is counted instead of read."""

import time
from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import mysql_insert


class Lock(mysql_insert.Lock):
    def run(self, work):
        with self.store.transaction():  # the lock belongs to the connection
            self.acquire()
            try:
                return work(Grant(self.key))
            finally:
                self.store.execute("SELECT RELEASE_LOCK(%s)", self.key)

    def acquire(self):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.store.execute("SELECT GET_LOCK(%s, 0)", self.key):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)


STAGE = replace(mysql_insert.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive counts_once freed_after_crash"))
