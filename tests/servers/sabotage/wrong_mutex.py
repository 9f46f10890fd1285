"""Sabotaged: a local lock that every request makes anew, as a lock in a request-scoped object is."""

import threading

from app.lock import Grant, Stage, claims


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key = key
        self.mutex = threading.Lock()

    def run(self, work):
        with self.mutex:
            return work(Grant(self.key))


STAGE = Stage(
    lock=Lock,
    follows="local",
    claims=claims("""
        exclusive_in_process
    """),
)
