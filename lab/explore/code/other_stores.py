"""The clients of stores other than Redis, as a stage gets them under the explorer: the lab's own, on a seam.

Each is imported when a stage needs it: what its library takes by name while it is imported, as kazoo takes ``time.sleep``, is
then a stand-in already; and no other stage waits for that library.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _etcd() -> Any:
    from lab.explore.code.etcd_seam import client

    return client()


def _zookeeper() -> Any:
    from lab.explore.code.zookeeper_seam import client

    return client()


def _mysql() -> Any:
    from lab.explore.code.mysql_seam import client

    return client()


CLIENTS: dict[str, Callable[[], Any]] = {"etcd": _etcd, "zookeeper": _zookeeper, "mysql": _mysql}


def client(store: str | None) -> Any:
    """Return the client for a stage's store, in the replica that runs; None where that is Redis, or none."""
    return CLIENTS[store]() if store in CLIENTS else None
