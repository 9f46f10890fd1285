"""A Locust worker in a container: it sends its share of the tickets of a master in another container."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.paths import HOME, LOCUSTFILE
from lab.servers.process import ServerProgram


@dataclass(frozen=True)
class LocustWorker(ServerProgram):
    """A Locust worker.

    The options of the locustfile come from the master. So would the path of the record, which
    differs on another host: it is passed in the environment.
    """

    options: dict[str, Any]  # Locust's own options, by name
    record: str  # the path of the record
    worker: str  # its name, which the record of each request has
    name: str = "locust-worker"
    executable = sys.executable

    def argv(self, port: int, folder: Path) -> list[str]:
        words = [word for name, value in self.options.items() for word in (f"--{name}", str(value))]
        return ["-m", "locust", "--worker", "--locustfile", str(LOCUSTFILE), *words]

    def env(self, port: int) -> dict[str, str]:
        return {"PYTHONPATH": str(HOME), "HOME": "/tmp", "LAB_RECORD": self.record, "LAB_WORKER": self.worker}  # noqa: S108 - a folder of the container

    def ready(self, port: int, pid: int) -> bool:
        return True  # the master counts its workers before it starts
