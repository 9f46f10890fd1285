"""The agent: the first process of a container, that starts a replica (or a Locust worker) anew for each run.

A run's settings are known when it begins, long after its containers have come up; and who judges may neither start processes
in other containers nor signal them, without power over the whole engine. So each container has somebody who takes orders, on
a port that is published nowhere:

- ``GET /`` says which clock the container has, and whether what was ordered still runs;
- ``PUT /order`` ends what runs and starts what is asked for, a replica by its settings or a worker by its options;
- ``DELETE /order`` goes back to what the container's environment says: a replica outside any run, or nothing;
- ``POST /resume`` and ``POST /kill`` are what a run does to a process: let it go on, end it;
- ``GET /record?from=N`` is what it wrote since byte N, for a judge that does not share its file system.

``python -m lab.containers.agent replica`` and ``python -m lab.containers.agent worker`` start one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lab.servers.process import launch
from lab.servers.programs.gunicorn import Gunicorn
from lab.servers.programs.locust_worker import LocustWorker
from lab.servers.supervisor import Supervisor

PORT = 8001  # orders
REPLICA_PORT = 8000  # increments
EVERYWHERE = "0.0.0.0"  # noqa: S104 - of the container, whose ports are published nowhere
CLOCK = Path("/proc/sys/kernel/random/boot_id")
PREFIX = "LAB_"


def clock() -> str:
    """Whose CLOCK_MONOTONIC this is: every boot of a kernel has its own, and all its containers have that."""
    return CLOCK.read_text(encoding="ascii").strip() if CLOCK.exists() else "unknown"


class Agent:
    """One container's only process, and what it leaves on record."""

    def __init__(self, kind: str, supervisor: Supervisor, folder: Path) -> None:
        self.kind, self.supervisor, self.folder = kind, supervisor, folder
        self.pid = 0
        self.record: Path | None = None  # of the order, where it is not in a folder that the judge has as well
        self._one_at_a_time = threading.Lock()

    def state(self) -> dict[str, Any]:
        """What ``GET /`` answers."""
        return {
            "clock": clock(),
            "container": socket.gethostname(),  # Docker's own name for it, unless one was given
            "kind": self.kind,
            "running": self.running(),
            "shared": self.record is None,
        }

    def running(self) -> bool:
        return bool(self.pid) and self.supervisor.exit_of(self.pid) is None

    def begin(self, order: dict[str, Any]) -> None:
        """End what runs; start what was ordered. Raises OSError, NotReady."""
        with self._one_at_a_time:
            self._end()
            log = self.folder / "log"
            record = Path(order["record"]) if order.get("record") else None
            self.record = None
            if record is not None and not record.parent.is_dir():  # not a folder of ours: another host's
                self.record = record = self.folder / "record.jsonl"
                record.write_bytes(b"")
            self.pid = launch(self._service(order, record), self.supervisor, REPLICA_PORT, log)

    def _service(self, order: dict[str, Any], record: Path | None) -> Gunicorn | LocustWorker:
        if self.kind == "worker":
            return LocustWorker(order["locustfile"], order["options"], str(record or ""))
        settings = outside_any_run() | order["settings"] | ({"journal": str(record)} if record else {})
        return Gunicorn(order["name"], settings, listen=EVERYWHERE)

    def idle(self) -> None:
        """What the container does outside any run."""
        if self.kind == "replica":
            self.begin({"name": os.environ.get("HOSTNAME", "replica"), "settings": {}})
        else:
            with self._one_at_a_time:
                self._end()

    def end_now(self) -> None:
        """End it at once."""
        if self.pid:
            self.supervisor.signal(self.pid, signal.SIGKILL)

    def _end(self) -> None:
        if self.pid:
            self.supervisor.signal(self.pid, signal.SIGCONT)
            self.supervisor.signal(self.pid, signal.SIGKILL)
            while self.running():
                threading.Event().wait(0.005)
        self.pid = 0

    def record_from(self, start: int) -> bytes:
        """The record from a byte on; empty if there is none, or where the judge can see it himself."""
        if self.record is None or not self.record.exists():
            return b""
        with self.record.open("rb") as file:
            file.seek(start)
            return file.read(1 << 22)


def outside_any_run() -> dict[str, str]:
    """The settings in the container's environment."""
    given = {name.removeprefix(PREFIX).lower(): text for name, text in os.environ.items() if name.startswith(PREFIX)}
    return {"run": "containers"} | given


class AgentHandler(BaseHTTPRequestHandler):
    """Where orders are taken."""

    agent: Agent

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        if place.path == "/record":
            self._answer(200, self.agent.record_from(int(parse_qs(place.query).get("from", ["0"])[0])))
        else:
            self._say(self.agent.state())

    def do_PUT(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        try:
            self.agent.begin(json.loads(self.rfile.read(length)))
        except Exception as error:  # noqa: BLE001 - told to whoever ordered it
            self._answer(500, f"{type(error).__name__}: {error}".encode())
        else:
            self._say(self.agent.state())

    def do_DELETE(self) -> None:
        self.agent.idle()
        self._say(self.agent.state())

    def do_POST(self) -> None:
        place = urlsplit(self.path)
        if place.path == "/resume":
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(parse_qs(place.query)["pid"][0]), signal.SIGCONT)
        elif place.path == "/kill":
            self.agent.end_now()
        self._say(self.agent.state())

    def _say(self, what: dict[str, Any]) -> None:
        self._answer(200, json.dumps(what).encode())

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        """Nobody reads it."""


def main(kind: str) -> None:
    """Take orders until told to end."""
    supervisor = Supervisor()
    with tempfile.TemporaryDirectory(prefix="lab-agent-") as folder:
        AgentHandler.agent = Agent(kind, supervisor, Path(folder))
        AgentHandler.agent.idle()
        desk = ThreadingHTTPServer((EVERYWHERE, PORT), AgentHandler)
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=desk.shutdown).start())
        try:
            desk.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            sys.stderr.write("interrupted\n")
        finally:
            supervisor.close()


if __name__ == "__main__":
    main(sys.argv[1])
