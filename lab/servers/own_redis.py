"""Redis servers of one process, outside of any run: to search orders, or to look at a lock.

If a process was killed, the next one removes the files that it left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil

from lab.servers import process
from lab.servers.programs.redis import RedisServer
from lab.servers.server import Server
from lab.servers.supervisor import Supervisor

PREFIX = "lab-redis-"


@contextlib.contextmanager
def own_servers(number: int) -> Iterator[list[Server]]:
    """Start some Redis servers for this process alone, and end them after the block. No client is connected to them yet."""
    sweep()
    with (
        tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-") as folder,
        contextlib.closing(Supervisor()) as supervisor,
    ):
        started = []
        for place in range(number):
            (own := Path(folder) / str(place)).mkdir()
            started.append(process.start(RedisServer(f"own-redis-{place}"), supervisor, own))
        yield [one.wait() for one in started]


def sweep() -> None:
    """Remove the folders of processes that are gone: they were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)
