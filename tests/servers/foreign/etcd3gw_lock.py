"""The lock of etcd3gw itself. It asks once and does not wait, so the waiter asks again."""

import time

from app.lock import Grant, NotAcquired, NotOwner, Stage, claims


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key = key
        self.wait_ms = wait_ms
        self.retry_ms = retry_ms
        self.lock = store.plain().lock(key, ttl=ttl_ms // 1000)

    def run(self, work):
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.lock.acquire():
            self.lock.lease.revoke()  # each try has a lease of its own
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        result = work(Grant(self.key))
        if not self.lock.release():
            raise NotOwner(self.key, self.lock.uuid)
        return result


STAGE = Stage(
    lock=Lock,
    follows="etcd",
    store="etcd",
    ttl_ms=3000,
    ttl_step_ms=1000,
    claims=claims("""
        exclusive_in_process
        exclusive
        acquires_atomically
        releases_only_its_own
        releases_atomically
        counts_once
        freed_after_crash
        freed_after_hang
        survives_persisted_restart
        survives_failover
    """),
)
