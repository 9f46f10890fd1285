"""Which stores are explored by replaying histories, and where their servers are.

Such a server runs next to the Redis of an exploration, which has the counter. Each process that searches has a server of its
own. What speaks with a store is imported when a stage needs it, as its client is (``code/other_stores``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lab.explore.store.histories import Histories, RealStore
from lab.explore.store.real_redis import RealRedis

Where = tuple[str, int]


def _etcd(host: str, port: int) -> RealStore:
    from lab.explore.store.real_etcd import RealEtcd

    return RealEtcd(host, port)


def _zookeeper(host: str, port: int) -> RealStore:
    from lab.explore.store.real_zookeeper import RealZooKeeper

    return RealZooKeeper(host, port)


def _mariadb(host: str, port: int) -> RealStore:
    from lab.explore.store.real_mariadb import RealMariaDB

    return RealMariaDB(host, port)


STORES: dict[str, Callable[[str, int], RealStore]] = {"etcd": _etcd, "zookeeper": _zookeeper, "mysql": _mariadb}
NEXT_TO: dict[tuple[Where, str], Where] = {}  # by the address of a Redis, and by store: the server next to it


def is_other(store: str | None) -> bool:
    """Return whether a store is explored by replaying histories."""
    return store in STORES


def table_of(store: str | None, redis: RealRedis) -> Histories | None:
    """Return the table of a stage's store; None where that is Redis, or none. Raises KeyError where no server was started."""
    if store is None or not is_other(store):
        return None
    return Histories(STORES[store](*NEXT_TO[(redis.host, redis.port), store]))


def without_data(table: Any) -> bool:
    """Return whether a store can come back without its data: the others write each change to disk before they answer."""
    return not isinstance(table, Histories)
