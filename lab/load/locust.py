"""Run Locust in a process of its own: start it, watch the lines that it records, and end it if it hangs."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from lab.errors import ExitStatus
from lab.paths import HOME, LOCUSTFILE
from lab.prerequisites import search_path
from lab.scenario.scenario import Scenario
from lab.servers.ports import free_port
from lab.servers.process import last_words
from lab.servers.supervisor import Forkable, Supervisor

RECORD = "requests.jsonl"
MASTER_PORT = 5557  # the port at which workers in other containers join
ASK_EVERY_S = 0.1  # how often to check the servers: each check takes processor time from the run
PATIENCE_S = 30.0  # Locust hangs if no request ends for this long plus one request's timeout


LOCUST = Forkable("locust.main:main", ("locust.main", "lab.load.tickets", "lab.evidence.history", "lab.ui.locust_plugin"))


def prepare(supervisor: Supervisor) -> None:
    """Import Locust ahead, while the servers start."""
    supervisor.prepare(LOCUST, environment())


def environment() -> dict[str, str]:
    """Return the environment of Locust's processes."""
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
    return kept | {"PATH": search_path(), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(HOME)}


class LoadFailed(Exception):  # noqa: N818 - the name says what happened
    """Locust itself failed. The message quotes the end of its log."""

    unwritten = ""  # why requests are not on record; empty if all are


class Load:
    """Hold one Locust run against a host, which records into ``folder/requests.jsonl``."""

    def __init__(self, supervisor: Supervisor, scenario: Scenario, host: str, folder: Path, workers: int = 0) -> None:
        """Start Locust. Raises LoadFailed.

        workers: how many workers join from other containers; 0: Locust's processes run on this machine.
        """
        self._supervisor = supervisor
        self._scenario = scenario
        self._record = folder / RECORD
        self._record.touch()
        self._workers = workers
        self._log = folder / "logs" / "locust"
        self._log.parent.mkdir(exist_ok=True)
        try:
            self._pid = supervisor.start(self._argv(host), environment(), HOME, self._log, LOCUST)
        except OSError as error:
            raise LoadFailed(f"Locust could not be started: {error}") from error
        self._lines = self._record.open("rb")

    def wait(self, on_progress: Callable[[int], None], still_well: Callable[[], bool]) -> None:
        """Wait until all requests have ended. Call ``on_progress`` with their number whenever it grows.

        Return early if ``still_well`` returns false. Raises LoadFailed if Locust fails or hangs.
        """
        moved_s = asked_s = time.monotonic()
        count = 0
        while (status := self._supervisor.exit_of(self._pid)) is None:
            if time.monotonic() - asked_s > ASK_EVERY_S:
                if not still_well():
                    return
                asked_s = time.monotonic()
            if fresh := self._lines.read().count(b"\n"):
                moved_s, count = time.monotonic(), count + fresh
                on_progress(count)
            if time.monotonic() - moved_s > self._scenario.request_timeout_s + PATIENCE_S:
                raise LoadFailed(
                    f"no answer for {time.monotonic() - moved_s:.0f} s; the end of {self._log}:\n{last_words(self._log)}"
                )
            time.sleep(0.02)
        on_progress(count + self._lines.read().count(b"\n"))
        if status != 0:
            failure = LoadFailed(f"locust ended with {status}; the end of its log:\n{last_words(self._log)}")
            failure.unwritten = f"{self._record} could not be written" if status == ExitStatus.CANNOT_WRITE else ""
            raise failure

    def stop(self) -> None:
        """End Locust now, if it still runs."""
        self._supervisor.signal(self._pid, signal.SIGKILL)
        self._lines.close()

    def _argv(self, host: str) -> list[str]:
        scenario = self._scenario
        options = {
            "locustfile": LOCUSTFILE,
            "host": f"http://{host}",
            "users": scenario.locust_users,
            "spawn-rate": scenario.locust_users,
            "requests": scenario.requests,
            "rate": scenario.rate or 0,
            "connections": scenario.connections or 0,
            "seed": scenario.seed,
            "timeout-s": scenario.request_timeout_s,
            "record": self._record,
            "exit-code-on-error": 0,
            "loglevel": "WARNING",
        }
        if self._workers:
            options |= {"master-bind-port": MASTER_PORT, "expect-workers": self._workers, "expect-workers-max-wait": 30}
        elif scenario.processes > 1:
            port = free_port()
            options |= {"processes": scenario.processes, "expect-workers": scenario.processes}
            options |= {"master-bind-host": "127.0.0.1", "master-bind-port": port, "master-port": port}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return [sys.executable, "-m", "locust", "--headless", "--only-summary", *(["--master"] if self._workers else []), *words]
