"""Broken: a lease in a table whose holder renews beat_at, and a waiter looks at taken_at: it takes a living lock over."""

import contextlib
import threading
import time
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, Stage, claims

MAKE = """
CREATE TABLE IF NOT EXISTS leases (name text PRIMARY KEY, owner text NOT NULL, taken_at timestamptz NOT NULL,
beat_at timestamptz NOT NULL)
"""
TAKE = """
INSERT INTO leases AS held (name, owner, taken_at, beat_at) VALUES (%s, %s, clock_timestamp(), clock_timestamp())
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, taken_at = excluded.taken_at, beat_at = excluded.beat_at
WHERE held.taken_at < clock_timestamp() - make_interval(secs => %s)
"""
BEAT = "UPDATE leases SET beat_at = clock_timestamp() WHERE name = %s AND owner = %s"
FREE = "DELETE FROM leases WHERE name = %s AND owner = %s"
MADE, MAKING = threading.Event(), threading.Lock()


class Lock:
    take = TAKE

    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store, self.key, self.owner = store, key, uuid4().hex
        self.ttl_s, self.wait_ms, self.retry_ms = ttl_ms / 1000, wait_ms, retry_ms
        self.over = threading.Event()

    def run(self, work):
        with contextlib.closing(self.store.plain()) as connection:
            self.make(connection)
            self.acquire(connection)
            beating = threading.Thread(target=self.beat, daemon=True)
            beating.start()
            try:
                result = work(Grant(self.key))
            finally:
                self.over.set()
                beating.join()
                freed = connection.execute(FREE, (self.key, self.owner)).rowcount
            if not freed:
                raise NotOwner(self.key, self.owner)
            return result

    def make(self, connection):
        with MAKING:
            if MADE.is_set():
                return
            connection.execute("SELECT pg_advisory_lock(4711)")  # two that create a table at once get an error
            connection.execute(MAKE)
            connection.execute("SELECT pg_advisory_unlock(4711)")
            MADE.set()

    def acquire(self, connection):
        until_s = time.monotonic() + self.wait_ms / 1000
        while not connection.execute(self.take, (self.key, self.owner, self.ttl_s)).rowcount:
            if time.monotonic() > until_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def beat(self):
        with contextlib.closing(self.store.plain()) as connection:
            while not self.over.wait(self.ttl_s / 3):
                connection.execute(BEAT, (self.key, self.owner))


STAGE = Stage(
    lock=Lock,
    store="postgresql",
    ttl_ms=3000,
    claims=claims("exclusive_in_process exclusive releases_only_its_own releases_atomically counts_once freed_after_failure"),
)
