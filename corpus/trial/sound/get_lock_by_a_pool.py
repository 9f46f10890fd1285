"""Sound: GET_LOCK on a connection of a pool of its own, which no other request uses meanwhile."""

import queue
from contextlib import contextmanager
from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import mysql_insert

FREE = queue.LifoQueue()


class Lock(mysql_insert.Lock):
    def run(self, work):
        with self.borrowed() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT GET_LOCK(%s, %s)", (self.key[-64:], self.wait_ms / 1000))
            if cursor.fetchone() != (1,):
                raise NotAcquired(self.key, self.wait_ms)
            try:
                return work(Grant(self.key))
            finally:
                cursor.execute("SELECT RELEASE_LOCK(%s)", (self.key[-64:],))

    @contextmanager
    def borrowed(self):
        """Lend a connection, and take it back if it is still well."""
        connection = self.store.plain() if FREE.empty() else FREE.get()
        try:
            yield connection
        except NotAcquired:
            FREE.put(connection)
            raise
        FREE.put(connection)


STAGE = replace(mysql_insert.STAGE, lock=Lock, claims=claims("exclusive_in_process exclusive held_to_the_end counts_once"))
