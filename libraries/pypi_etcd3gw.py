"""The lock of etcd3gw: one transaction creates the key if nobody has it, with a lease. It asks once and does not wait.

**Idea** The client of OpenStack for etcd has a lock of its own.
"""

from app.foreign.declared import declared
from app.foreign.library import Library, Quote

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


def use(at):
    """Use the lock once; each try makes a lease."""
    lock = at.client.lock(at.key, ttl=at.ttl_s)
    if not lock.acquire():
        lock.lease.revoke()
        return
    try:
        at.work()
    finally:
        if not lock.release():
            at.lost()


STAGE = LIBRARY.stage(lock=declared(use, key="/locks/{key}"), store="etcd", ttl_ms=3000, ttl_step_ms=1000)
