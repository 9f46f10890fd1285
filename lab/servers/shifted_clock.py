"""A server whose wall clock can jump, by libfaketime. Its monotonic clock does not change: no operator can set that one.

The library stands between a program and the C library. etcd is written in Go, which asks the kernel without the C library. So
its clock cannot be shifted in this way.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

from lab.errors import MissingProgram
from lab.prerequisites import FAKETIMES, how_to_install
from lab.servers.process import Running, ServerProgram

CLOCK = "clock"  # the file in the server's folder that holds the offset of its clock


class Shifted(ServerProgram):
    """Give a program a clock that can be shifted, and that begins at real time."""

    clock = CLOCK  # the path of the clock's file from the folder that the server works in

    def argv(self, port: int, folder: Path) -> list[str]:
        (folder / CLOCK).write_text("+0\n", encoding="utf-8")
        return super().argv(port, folder)

    def env(self, port: int) -> dict[str, str]:
        settings = {
            "TIMESTAMP_FILE": self.clock,
            "NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "FORCE_MONOTONIC_FIX": "0",  # a JVM hangs at its start without this
        }
        return super().env(port) | {"LD_PRELOAD": library()} | {f"FAKETIME_{name}": value for name, value in settings.items()}

    def clock_ms(self, port: int) -> float:
        """Return the time of the server's own wall clock. Raises OSError if it does not answer."""
        raise NotImplementedError


def library() -> str:
    """Return the path of libfaketime. Raises MissingProgram, with how to install it."""
    found = next((file for file in FAKETIMES if Path(file).exists()), None)
    if found is None:
        raise MissingProgram(f"libfaketime is not installed. {how_to_install('libfaketime.so.1')}")
    return found


def jump_clock(running: Running, by_ms: int) -> bool:
    """Set the clock of a server ahead of real time, or behind it. Return whether its own time moved by at least half of that."""
    program = cast(Shifted, running.program)
    before_ms = program.clock_ms(running.port)
    _set(running, by_ms / 1000)
    return abs(program.clock_ms(running.port) - before_ms) > abs(by_ms) / 2


def _set(running: Running, ahead_s: float) -> None:
    """Replace the content of a server's clock file atomically."""
    clock = running.log.parent / CLOCK
    fresh = clock.with_suffix(".new")
    fresh.write_text(f"{ahead_s:+.3f}\n", encoding="utf-8")
    fresh.replace(clock)
