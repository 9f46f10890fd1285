"""A MariaDB server whose wall clock can jump, by libfaketime."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab.servers import shifted_clock
from lab.servers.programs.mariadb import MariaDB, ask


@dataclass(frozen=True)
class ShiftedMariaDB(MariaDB):
    """A MariaDB server with an adjustable clock."""

    def argv(self, port: int, folder: Path) -> list[str]:
        shifted_clock.begin(folder)
        return super().argv(port, folder)

    def env(self, port: int) -> dict[str, str]:
        return super().env(port) | shifted_clock.env(f"../{shifted_clock.CLOCK}")  # it works in the folder of its data

    def clock_ms(self, port: int) -> float:
        return 1000 * float(ask(port, "SELECT UNIX_TIMESTAMP(NOW(3))")[0][0])
