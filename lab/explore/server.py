"""A Redis server for an exploration alone. What an exploration that was killed has left behind, the next one removes."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from lab.explore.store.others import NEXT_TO, is_other
from lab.explore.store.real_redis import RealRedis
from lab.servers import process
from lab.servers.ports import free_port
from lab.servers.process import ServerProgram
from lab.servers.programs.etcd import EtcdServer
from lab.servers.programs.mariadb import MariaDB
from lab.servers.programs.redis import RedisServer
from lab.servers.programs.zookeeper import ZooKeeperServer
from lab.servers.server import Server
from lab.servers.supervisor import Supervisor

PROGRAMS: dict[str, Callable[[str], ServerProgram]] = {
    "zookeeper": ZooKeeperServer,
    "mysql": MariaDB,
    "etcd": lambda name: EtcdServer(name, {name: free_port()}),
}


@contextlib.contextmanager
def next_to(running: list[Server], store: str | None, supervisor: Supervisor, folder: Path) -> Iterator[None]:
    """Start a server of a stage's store next to each Redis; nothing where the store is Redis. The supervisor ends them."""
    if store is None or not is_other(store):
        yield
        return
    started = [process.start(PROGRAMS[store](f"explored-{store}-{place}"), supervisor, folder) for place, _ in enumerate(running)]
    keys = [((one.host, one.port), store) for one in running]
    NEXT_TO.update({key: (one.wait().host, one.running.port) for key, one in zip(keys, started, strict=True)})
    try:
        yield
    finally:
        for key in keys:
            NEXT_TO.pop(key, None)


PREFIX = "lab-explore-"
MEMORY = Path("/dev/shm")  # noqa: S108 - the folder below it has a name of its own
ROOM_BYTES = 1 << 30  # two servers of etcd take 64 MB each for their log alone


@contextlib.contextmanager
def redis_server(store: str | None = None) -> Iterator[RealRedis]:
    """Start a Redis server for the explorer alone, and end it. store: a stage's; another than Redis is started next to it."""
    with servers(1, store) as (one,):
        real = RealRedis(one.host, one.port)
        try:
            yield real
        finally:
            real.close()


@contextlib.contextmanager
def servers(number: int, store: str | None = None) -> Iterator[list[Server]]:
    """Start some Redis servers for explorers alone, and end them. Nobody is connected to them yet. store: as above."""
    sweep()
    is_writable = MEMORY.is_dir() and os.access(MEMORY, os.W_OK)
    has_room = is_writable and shutil.disk_usage(MEMORY).free > ROOM_BYTES
    where = MEMORY if is_other(store) and has_room else None  # a search writes much, and needs nothing of it on a disk
    with (
        tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", dir=where) as folder,
        contextlib.closing(Supervisor()) as supervisor,
    ):
        started = []
        for place in range(number):
            (own := Path(folder) / str(place)).mkdir()
            started.append(process.start(RedisServer("explored-redis"), supervisor, own))
        running: list[Server] = [one.wait() for one in started]
        with next_to(running, store, supervisor, Path(folder)):
            yield running


def sweep() -> None:
    """Remove the folders of explorations whose process is gone: it was killed."""
    for folder in (one for place in (Path(tempfile.gettempdir()), MEMORY) for one in place.glob(f"{PREFIX}*-*")):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)
