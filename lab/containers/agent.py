"""The agent: the first process of a container. It starts a replica (or a Locust worker) again for
each run.

A run's settings are known when the run begins, long after its containers have started. The judge
may not start or signal processes in other containers: that would need control of the whole engine.
So each container has an agent, which takes orders on a port that is not published:

- ``GET /`` returns the container's clock, and whether the ordered process still runs;
- ``PUT /order`` ends the current process and starts the ordered one, a replica with its settings or a worker with its options;
- ``DELETE /order`` returns to what the container's environment states: a replica outside any run, or nothing;
- ``POST /resume`` and ``POST /kill`` resume a process and end it;
- ``GET /record?from=N`` returns the record from byte N on, for a judge that does not share the container's file system.

``python -m lab.containers.agent replica`` and ``python -m lab.containers.agent worker`` start an
agent.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns
from typing import Any

from flask import Flask, request
from werkzeug.serving import make_server

from lab.servers.process import launch
from lab.servers.programs.gunicorn import Gunicorn
from lab.servers.programs.locust_worker import LocustWorker
from lab.servers.supervisor import Supervisor

PORT = 8001  # of the agent
REPLICA_PORT = 8000  # of the replica, for increments
EVERYWHERE = "0.0.0.0"  # noqa: S104 - inside the container, whose ports are not published
BOOT = Path("/proc/sys/kernel/random/boot_id")
PREFIX = "LAB_"


def boot() -> str:
    """Return which boot of a kernel this is. Its containers share a CLOCK_MONOTONIC, unless they have a time namespace."""
    return BOOT.read_text(encoding="ascii").strip() if BOOT.exists() else "unknown"


class Agent:
    """What a container runs, and the record that it leaves."""

    def __init__(self, kind: str, supervisor: Supervisor, folder: Path) -> None:
        self.kind, self.supervisor, self.folder = kind, supervisor, folder
        self.pid = 0
        self.record: Path | None = None  # set if the record is not in a folder that the judge shares
        self._one_at_a_time = threading.Lock()

    def state(self) -> dict[str, Any]:
        """Return the answer to ``GET /``."""
        return {
            "clock": boot(),
            "monotonic_ns": monotonic_ns(),
            "container": socket.gethostname(),  # the container's id, unless it was given a host name
            "kind": self.kind,
            "running": self.running(),
            "shared": self.record is None,
        }

    def running(self) -> bool:
        """Return whether the ordered process runs."""
        return bool(self.pid) and self.supervisor.exit_of(self.pid) is None

    def begin(self, order: dict[str, Any]) -> None:
        """End the current process and start the ordered one. Raises OSError, NotReady."""
        with self._one_at_a_time:
            self._end()
            log = self.folder / "log"
            record = Path(order["record"]) if order.get("record") else None
            self.record = None
            if record is not None and not record.parent.is_dir():  # the folder is on another host
                self.record = record = self.folder / "record.jsonl"
                record.write_bytes(b"")
            self.pid = launch(self._program(order, record), self.supervisor, REPLICA_PORT, log)

    def _program(self, order: dict[str, Any], record: Path | None) -> Gunicorn | LocustWorker:
        if self.kind == "worker":
            return LocustWorker(order["options"], str(record or ""))
        settings = outside_any_run() | order["settings"] | ({"journal": str(record)} if record else {})
        return Gunicorn(order["name"], settings, listen=EVERYWHERE)

    def idle(self) -> None:
        """Run what the container runs outside any run."""
        if self.kind == "replica":
            self.begin({"name": os.environ.get("HOSTNAME", "replica"), "settings": {}})
        else:
            with self._one_at_a_time:
                self._end()

    def end_now(self) -> None:
        """End the process at once."""
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
        """Return the record from a byte on; empty if there is none, or if the judge can read it itself."""
        if self.record is None or not self.record.exists():
            return b""
        with self.record.open("rb") as file:
            file.seek(start)
            return file.read(1 << 22)


def outside_any_run() -> dict[str, str]:
    """Return the settings in the container's environment."""
    given = {name.removeprefix(PREFIX).lower(): text for name, text in os.environ.items() if name.startswith(PREFIX)}
    return {"run": "containers"} | given


def app_of(agent: Agent) -> Flask:
    """Return the agent as an application. The error of an order is the answer to it, with status 500."""
    app = Flask(__name__, static_folder=None)

    def resume() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(request.args["pid"]), signal.SIGCONT)

    def route(method: str, path: str, act: Callable[[], object] = lambda: None) -> None:
        def answer() -> Any:
            act()
            return agent.state()

        app.add_url_rule(path, f"{method} {path}", answer, methods=[method])

    route("GET", "/")
    route("PUT", "/order", lambda: agent.begin(request.get_json(force=True)))
    route("DELETE", "/order", agent.idle)
    route("POST", "/resume", resume)
    route("POST", "/kill", agent.end_now)
    app.add_url_rule("/record", "record", lambda: agent.record_from(request.args.get("from", type=int, default=0)))
    app.register_error_handler(Exception, lambda error: (f"{type(error).__name__}: {error}", 500))
    return app


def main(kind: str) -> None:
    """Take orders until SIGTERM."""
    supervisor = Supervisor(forks=False)  # one program at a time: it shares its imports with no other
    with tempfile.TemporaryDirectory(prefix="lab-agent-") as folder:
        agent = Agent(kind, supervisor, Path(folder))
        agent.idle()
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a judge asks often
        server = make_server(EVERYWHERE, PORT, app_of(agent), threaded=True)
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
        try:
            server.serve_forever(poll_interval=0.1)
        finally:
            supervisor.close()


if __name__ == "__main__":
    main(sys.argv[1])
