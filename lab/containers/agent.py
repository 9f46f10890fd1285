"""Run the agent, the first process of a container. It starts a replica (or a Locust worker) again for each run.

A run's settings are known when the run begins, long after its containers have started. The judge
may not start or signal processes in other containers: that would need control of the whole engine.
So each container has an agent, which takes orders on a port that is not published:

- ``GET /`` returns the container's clock, and whether the ordered process still runs;
- ``PUT /order`` ends the current process and starts the ordered one, a replica with its settings or a worker with its options;
- ``DELETE /order`` returns to the process of the container's environment: a replica outside any run, or none;
- ``POST /resume`` resumes a process, and ``POST /kill`` ends the ordered one;
- ``GET /record?from=N`` returns the record from byte N on, and frees the memory of the bytes before;
- ``GET /faults`` returns the notes of the run's faults, and ``PUT /faults/NAME`` adds one (``app/failpoints``);
- ``PUT /gate/STATE`` holds the replica's gate of late writes for the requests of other replicas.

Containers share no folder, so all of this works on several hosts as well as on one.

``python -m lab.containers.agent replica`` and ``python -m lab.containers.agent worker`` start an
agent.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns
from typing import Any

from flask import Flask, request
from werkzeug.serving import make_server

from app.failpoints import ANSWER, DUE, GATE, GRANTED, LEFT, NOTE, PASSED, SPENT
from lab.servers.process import last_words, launch
from lab.servers.programs.gunicorn import Gunicorn
from lab.servers.programs.locust_worker import LocustWorker
from lab.servers.supervisor import Supervisor

PORT = 8001  # the agent's port
REPLICA_PORT = 8000  # the replica's port, for increments
EVERYWHERE = "0.0.0.0"  # noqa: S104 - inside the container, whose ports are not published
BOOT = Path("/proc/sys/kernel/random/boot_id")
LIVES = Path("/tmp/agent-lives")  # noqa: S108 - in the container: its health check reads the file's age
PREFIX = "LAB_"
NOTES = (SPENT, NOTE, ANSWER, GRANTED, DUE, PASSED, LEFT)
# the gate of late writes of a replica: its requests may read; none of them may read; one of them may write late
GATES = {"shared": fcntl.LOCK_SH, "closed": fcntl.LOCK_EX, "open": fcntl.LOCK_UN}
GATE_WITHIN_S = 5.0  # no longer: a request of a replica that a fault has stopped may stay between its read and its write
KEEP_SIZE, PUNCH_HOLE = 1, 2  # flags of fallocate(2)


def boot() -> str:
    """Return the id of this kernel's boot. The containers of one kernel share a CLOCK_MONOTONIC, except with time namespaces."""
    return BOOT.read_text(encoding="ascii").strip() if BOOT.exists() else "unknown"


class Agent:
    """The process that a container runs, and its record."""

    def __init__(self, kind: str, supervisor: Supervisor, folder: Path) -> None:
        self.kind, self.supervisor, self.folder = kind, supervisor, folder
        self.pid = 0
        self.record, self.log = folder / "record.jsonl", folder / "log"
        self.faults = folder / "faults"
        self._gate = os.open(os.devnull, os.O_RDONLY)
        self._one_at_a_time = threading.Lock()

    def state(self) -> dict[str, Any]:
        """Return the answer to ``GET /``."""
        return {
            "clock": boot(),
            "monotonic_ns": monotonic_ns(),
            "container": socket.gethostname(),  # the container's id, unless it was given a host name
            "kind": self.kind,
            "running": self.running(),
            "last_words": last_words(self.log) if self.pid and not self.running() else "",
        }

    def running(self) -> bool:
        """Return whether the ordered process runs."""
        return bool(self.pid) and self.supervisor.exit_of(self.pid) is None

    def begin(self, order: dict[str, Any]) -> None:
        """End the current process and start the ordered one. Raises OSError, NotReady."""
        with self._one_at_a_time:
            self._end()
            self.record.write_bytes(b"")
            shutil.rmtree(self.faults, ignore_errors=True)
            self.faults.mkdir()
            for name, text in order.get("faults", {}).items():
                self.add_note(name, text)
            os.close(self._gate)
            self._gate = os.open(self.faults / GATE, os.O_RDONLY | os.O_CREAT, 0o666)
            self.set_gate("shared")
            self.pid = launch(self._program(order), self.supervisor, REPLICA_PORT, self.log)

    def _program(self, order: dict[str, Any]) -> Gunicorn | LocustWorker:
        if self.kind == "worker":
            return LocustWorker(order["options"], str(self.record), order["name"])
        settings = outside_any_run() | order["settings"]
        if "faults" in order:  # in a run
            settings |= {"journal": str(self.record)} | ({"faults": str(self.faults)} if order["faults"] else {})
        return Gunicorn(order["name"], settings, listen=EVERYWHERE)

    def notes(self) -> dict[str, str]:
        """Return the notes of the run's faults, by the names of their files."""
        return {path.name: path.read_text(encoding="utf-8") for path in self.faults.glob("[!.]*") if path.suffix in NOTES}

    def add_note(self, name: str, text: str) -> None:
        """Add a note, completely or not at all. The replica may read it at once."""
        draft = self.faults / f".{Path(name).name}"
        draft.write_text(text, encoding="utf-8")
        draft.rename(self.faults / Path(name).name)

    def set_gate(self, state: str) -> None:
        """Set this container's gate of late writes to a key of GATES. Raises OSError if requests stay inside too long."""
        until = time.monotonic() + GATE_WITHIN_S
        while True:
            try:
                return fcntl.flock(self._gate, GATES[state] | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
            time.sleep(0.001)

    def idle(self) -> None:
        """Start the process that the container has outside any run."""
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
        """Return the record from a byte on, and free the memory of the bytes before: the lab has fetched them."""
        with self.record.open("rb+") as file:
            give_back(file.fileno(), start)
            file.seek(start)
            return file.read(1 << 22)


def give_back(file: int, until: int) -> None:
    """Free the memory of the first ``until`` bytes of a file. The file keeps its length."""
    if until:  # if the file system cannot free it, nothing happens
        ctypes.CDLL(None).fallocate(file, KEEP_SIZE | PUNCH_HOLE, ctypes.c_int64(0), ctypes.c_int64(until))


def outside_any_run() -> dict[str, str]:
    """Return the settings in the container's environment, for a replica outside any run."""
    settings = {name.removeprefix(PREFIX).lower(): text for name, text in os.environ.items() if name.startswith(PREFIX)}
    return {"run": "containers"} | settings


def app_of(agent: Agent) -> Flask:
    """Return the HTTP application of an agent. If an order fails, the answer is its error, with status 500."""
    app = Flask(__name__, static_folder=None)

    def resume() -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(request.args["pid"]), signal.SIGCONT)

    def route(method: str, path: str, act: Callable[..., object] = lambda: None) -> None:
        def answer(**parts: str) -> Any:
            act(**parts)
            return agent.state()

        app.add_url_rule(path, f"{method} {path}", answer, methods=[method])

    route("GET", "/")
    route("PUT", "/order", lambda: agent.begin(request.get_json(force=True)))
    route("DELETE", "/order", agent.idle)
    route("POST", "/resume", resume)
    route("POST", "/kill", agent.end_now)
    route("PUT", "/faults/<name>", lambda name: agent.add_note(name, request.get_data(as_text=True)))
    route("PUT", "/gate/<state>", agent.set_gate)
    app.add_url_rule("/faults", "faults", agent.notes)
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
        server.service_actions = LIVES.touch  # type: ignore[method-assign] # called at each poll
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
        try:
            server.serve_forever(poll_interval=0.5)
        finally:
            supervisor.close()


if __name__ == "__main__":
    main(sys.argv[1])
