"""Which stores are explored by replaying histories, and where their servers are.

Such a server runs next to the Redis of an exploration, which has the counter. Each process that searches has a server of its
own. What speaks with a store (``real_STORE.py`` here, ``code/STORE_seam.py``) is imported when a stage needs it: what its library
takes by name while it is imported, as kazoo takes ``time.sleep``, is then a stand-in already; and no other stage waits for it.
"""

from __future__ import annotations

from importlib import import_module

from app.lock import Stage
from lab.explore.store.histories import Histories
from lab.explore.store.real_redis import RealRedis
from lab.explore.store.table import StoreTable, Table

Where = tuple[str, int]

STORES = {"etcd": "RealEtcd", "zookeeper": "RealZooKeeper", "mysql": "RealMariaDB"}
NEXT_TO: dict[tuple[Where, str], Where] = {}  # by the address of a Redis, and by store: the server next to it


def is_other(store: str | None) -> bool:
    """Return whether a store is explored by replaying histories."""
    return store in STORES


def table_of(store: str | None, redis: RealRedis) -> StoreTable:
    """Return the table of a stage's store; that of Redis where it has none. Raises KeyError where no server was started."""
    if store is None or not is_other(store):
        return Table(redis)
    real = getattr(import_module(f"lab.explore.store.real_{store}"), STORES[store])
    return Histories(real(*NEXT_TO[(redis.host, redis.port), store]))


EXPLORED = (None, "redis", "redis_nodes", *STORES)
INSTEAD = "A run samples its orders: lab run SCENARIO --stage {}"


def why_not(stage: Stage) -> str:
    """Return why a stage is not explored; empty where it is."""
    if stage.worker:
        return "its lock is in a program of its own, whose threads the explorer cannot lead"
    return "" if stage.store in EXPLORED else f"it asks {stage.store}, which the explorer does not know"
