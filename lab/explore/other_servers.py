"""The servers of stores other than Redis, for an exploration alone: each next to a Redis."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from lab.explore.store.others import NEXT_TO, is_other
from lab.servers import process
from lab.servers.process import ServerProgram, free_port
from lab.servers.programs.etcd import EtcdServer
from lab.servers.programs.mariadb import MariaDB
from lab.servers.programs.zookeeper import ZooKeeperServer
from lab.servers.server import Server
from lab.servers.supervisor import Supervisor


def _program(store: str, place: int) -> ServerProgram:
    name = f"explored-{store}-{place}"
    if store == "zookeeper":
        return ZooKeeperServer(name)
    if store == "mysql":
        return MariaDB(name)
    return EtcdServer(name, {name: free_port()})


@contextlib.contextmanager
def next_to(running: list[Server], store: str | None, supervisor: Supervisor, folder: Path) -> Iterator[None]:
    """Start a server of a stage's store next to each Redis; nothing where the store is Redis. The supervisor ends them."""
    if store is None or not is_other(store):
        yield
        return
    started = [process.start(_program(store, place), supervisor, folder) for place, _ in enumerate(running)]
    keys = [((one.host, one.port), store) for one in running]
    NEXT_TO.update({key: (one.wait().host, one.running.port) for key, one in zip(keys, started, strict=True)})
    try:
        yield
    finally:
        for key in keys:
            NEXT_TO.pop(key, None)
