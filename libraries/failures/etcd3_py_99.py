"""etcd3-py's lock: two requests that find no key both write it.

**Idea** Its transaction asks whether the key has the writer's own value. It never asks whether the key is there.
"""

from contextlib import suppress

from app.foreign.declared import declared
from app.foreign.library import Quote, ReportedFailure

FAILURE = ReportedFailure(
    report="Revolution1/etcd3-py#99",
    link="https://github.com/Revolution1/etcd3-py/issues/99",
    what="A request that finds the lock free writes its key, even if another request has written it meanwhile.",
    package="etcd3-py",
    version="0.1.6",
    promises={
        "exclusive": Quote(
            "Locking recipe for etcd, inspired by the kazoo recipe for zookeeper",
            "https://github.com/Revolution1/etcd3-py/blob/v0.1.6/etcd3/stateful/lock.py",
        ),
    },
    scenario="rush",
    options={"requests": 300, "ttl_ms": 10_000},  # no lease may end on a busy machine
    breaks="exclusive",
    by="granted_to_two",  # the lab records no key events of etcd, so it does not say that the key was set twice
)


def use(at):
    """Use the lock of etcd3-py with a client of its own."""
    from etcd3 import Client
    from etcd3.stateful.lock import EtcdLockAcquireTimeout

    client = Client(at.host, at.port)
    client._session = at.client.session  # noqa: SLF001 - its own is of requests, too: so the lab sees what it sends
    lock = client.Lock(at.key, lock_ttl=at.ttl_s)
    with suppress(EtcdLockAcquireTimeout):
        lock.acquire(timeout=at.wait_s)
        try:
            at.work()
        finally:
            lock.release()


STAGE = FAILURE.stage(lock=declared(use, key="_locks/{key}"), store="etcd", ttl_ms=3000, ttl_step_ms=1000, environment="etcd3_py")
