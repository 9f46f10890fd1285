"""The lock of etcd3gw: one transaction creates the key if nobody has it, with a lease. It asks once and does not wait.

**Idea** The client of OpenStack for etcd has a lock of its own.
"""

import time

from app.foreign.library import Library, Quote
from app.lock import Grant, NotAcquired, NotOwner

CODE = "https://opendev.org/openstack/etcd3gw/src/tag/2.7.0/etcd3gw/lock.py"
LOCK = Quote("Acquire the lock.", CODE)
TTL = Quote("Create a lock using the given name with specified timeout", CODE)

LIBRARY = Library(
    package="etcd3gw",
    version="2.7.0",
    used="rank 13093 of PyPI's downloads",
    lock="etcd3gw.client.Etcd3Client.lock",
    options="who did not get it asks again after the pause of the scenario, and gives back the lease of the try",
    promises={"exclusive_in_process": LOCK, "exclusive": LOCK, "freed_after_crash": TTL, "freed_after_hang": TTL},
)


class Lock:
    """The lock, asked for until the time is over."""

    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.key, self.wait_ms, self.retry_ms = key, wait_ms, retry_ms
        self.lock = store.plain().lock(key, ttl=ttl_ms // 1000)

    def run(self, work):
        """Acquire, work, release."""
        deadline_s = time.monotonic() + self.wait_ms / 1000
        while not self.lock.acquire():
            self.lock.lease.revoke()  # each try makes a lease
            if time.monotonic() > deadline_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)
        try:
            return work(Grant(self.lock.key))
        finally:
            if not self.lock.release():
                raise NotOwner(self.key, self.lock.uuid)


STAGE = LIBRARY.stage(lock=Lock, store="etcd", ttl_ms=3000, ttl_step_ms=1000)
