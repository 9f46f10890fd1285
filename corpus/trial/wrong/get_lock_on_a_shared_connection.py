"""Broken: all threads of a process ask GET_LOCK on one connection, and the database lets a connection in again that has it."""

import threading
import time
from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import mysql_insert

SHARED = []  # the connection of this process
ONE_AT_A_TIME = threading.Lock()


class Lock(mysql_insert.Lock):
    def run(self, work):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.ask("SELECT GET_LOCK(%s, 0)"):
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        try:
            return work(Grant(self.key))
        finally:
            self.ask("SELECT RELEASE_LOCK(%s)")

    def ask(self, statement):
        with ONE_AT_A_TIME:
            if not SHARED:
                SHARED.append(self.store.plain())
            with SHARED[0].cursor() as cursor:
                cursor.execute(statement, (self.key[-64:],))
                return cursor.fetchone()[0]


STAGE = replace(mysql_insert.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive held_to_the_end counts_once"))
