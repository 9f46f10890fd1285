"""Broken: pg_advisory_xact_lock on a connection that commits each statement by itself, so the lock ends at once."""

import contextlib

from app.lock import Grant, Stage, claims


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store, self.key = store, key

    def run(self, work):
        with contextlib.closing(self.store.plain()) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (self.key,))
            return work(Grant(self.key))


STAGE = Stage(
    lock=Lock,
    store="postgresql",
    ttl_ms=None,
    claims=claims("exclusive_in_process exclusive counts_once freed_after_crash"),
)
