"""GET_LOCK: a lock by name that belongs to a connection. It ends with the connection."""

import contextlib

from app.lock import Grant, NotAcquired, NotOwner, Stage


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store = store
        self.key = key
        self.name = key[-64:]  # a longer name is an error
        self.wait_ms = wait_ms

    def run(self, work):
        with contextlib.closing(self.store.plain()) as connection, connection.cursor() as cursor:
            cursor.execute("SELECT GET_LOCK(%s, %s)", (self.name, self.wait_ms / 1000))
            if cursor.fetchone() != (1,):
                raise NotAcquired(self.key, self.wait_ms)
            result = work(Grant(self.key))
            cursor.execute("SELECT RELEASE_LOCK(%s)", (self.name,))
            if cursor.fetchone() != (1,):
                raise NotOwner(self.key, self.name)
            return result


STAGE = Stage(
    lock=Lock,
    follows="mysql_insert",
    store="mysql",
    gains="",
)
