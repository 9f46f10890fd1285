"""A Locust worker in a container: it sends its share of the tickets of a master elsewhere."""

from __future__ import annotations

import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.paths import HOME


@dataclass(frozen=True)
class LocustWorker:
    """locustfile: its name, in locustfiles. options: Locust's, by name; those of the file itself come from the master, and
    so would the path of the record, which is another on another host: it goes by the environment.
    """

    locustfile: str
    options: dict[str, Any]
    record: str = ""
    name: str = "locust-worker"
    executable: str = sys.executable
    stop_signal: signal.Signals = signal.SIGKILL

    def argv(self, port: int, folder: Path) -> list[str]:
        words = [word for name, value in self.options.items() for word in (f"--{name}", str(value))]
        return ["-m", "locust", "--worker", "--locustfile", str(HOME / "locustfiles" / f"{self.locustfile}.py"), *words]

    def env(self, port: int) -> dict[str, str]:
        return {"PYTHONPATH": str(HOME), "HOME": "/tmp", "LAB_RECORD": self.record}  # noqa: S108 - of the container

    def ready(self, port: int, pid: int) -> bool:
        return True  # the master counts its workers before it starts
