"""The lock of kazoo itself, on the client of the replica's session."""

from kazoo.exceptions import LockTimeout

from app.lock import Grant, NotAcquired, Stage, claims


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key = key
        self.wait_ms = wait_ms
        self.lock = store.plain(ttl_ms).Lock(f"/{key}")

    def run(self, work):
        if not self.acquire():
            raise NotAcquired(self.key, self.wait_ms)
        try:
            return work(Grant(self.key))
        finally:
            self.lock.release()

    def acquire(self):
        try:
            return self.lock.acquire(blocking=self.wait_ms > 0, timeout=self.wait_ms / 1000 or None)
        except LockTimeout:
            return False


STAGE = Stage(
    lock=Lock,
    follows="zookeeper",
    store="zookeeper",
    ttl_ms=10_000,
    ttl_step_ms=1000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        held_to_the_end
        releases_only_its_own
        releases_atomically
        counts_once
        survives_persisted_restart
        freed_after_crash
        freed_after_failure
        fair
        fair_in_process
    """),
)
