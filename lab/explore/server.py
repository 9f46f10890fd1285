"""A Redis server for an exploration alone. What an exploration that was killed has left behind, the next one removes."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

from lab.explore.store.real_redis import RealRedis
from lab.servers import process
from lab.servers.programs.redis import RedisServer
from lab.servers.server import Server
from lab.servers.supervisor import Supervisor

PREFIX = "lab-explore-"


@contextlib.contextmanager
def redis_server() -> Iterator[RealRedis]:
    """Start a Redis server for the explorer alone, and end it."""
    with servers(1) as (one,):
        real = RealRedis(one.host, one.port)
        try:
            yield real
        finally:
            real.close()


@contextlib.contextmanager
def servers(number: int) -> Iterator[list[Server]]:
    """Start some Redis servers for explorers alone, and end them. Nobody is connected to them yet."""
    sweep()
    with (
        tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-") as folder,
        contextlib.closing(Supervisor()) as supervisor,
    ):
        started = []
        for place in range(number):
            (own := Path(folder) / str(place)).mkdir()
            started.append(process.start(RedisServer("explored-redis"), supervisor, own))
        yield [one.wait() for one in started]


def sweep() -> None:
    """Remove the folders of explorations whose process is gone: it was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)
