"""Run Locust in a process of its own: start it, watch the lines that it records, and end it."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lab.errors import BadInput, ExitStatus
from lab.paths import HOME, LOCUSTFILE
from lab.prerequisites import search_path
from lab.scenario.options import flags
from lab.scenario.scenario import Scenario
from lab.servers.ports import free_port
from lab.servers.process import last_words
from lab.servers.supervisor import Forkable, Supervisor

RECORD = "requests.jsonl"
OWN = LOCUSTFILE.with_name("own.py")  # records the requests of a user's own locustfile
MASTER_PORT = 5557  # the port at which workers in other containers join
ASK_EVERY_S = 0.1  # how often to check the servers: each check takes processor time from the run
LOCUST = Forkable("locust.main:main", ("locust.main", "lab.load.tickets", "lab.load.recording", "lab.ui.locust_plugin"))


def environment(whole: bool = False) -> dict[str, str]:
    """Return the environment of Locust's processes. whole: with all variables of this process, for a user's own locustfile."""
    kept = {name: value for name, value in os.environ.items() if whole or name in ("HOME", "TMPDIR")}
    return kept | {"PATH": search_path(), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(HOME)}


def fitted_to_load(supervisor: Supervisor, scenario: Scenario, given: Mapping[str, Any]) -> Scenario:
    """Return the scenario as the user's own locustfile will drive it: a shape in it decides the number of users.

    given: the options of the command line. Raises BadInput if Locust cannot load the file, or if nothing would end the load.
    """
    path = scenario.own_load
    argv = [sys.executable, "-m", "locust", "--headless", "--loglevel", "WARNING", "--locustfile", f"{OWN},{path}"]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        pid = supervisor.start(argv, environment(whole=True), Path.cwd(), log, LOCUST)
        while (status := supervisor.exit_of(pid)) is None:
            time.sleep(0.02)
        output = last_words(log, 40)
    if status != 0:
        lines = re.findall(rf'File "[^"]*{re.escape(Path(path).name)}", line (\d+)', output)
        place = f"{path}, line {lines[-1]}" if lines else path
        reasons = [*output.splitlines(), *re.findall("/ERROR/.*?: (.+)", output)]
        raise BadInput(f"--load: Locust cannot load {place}: {reasons[-1]}")
    shape = json.loads(output.splitlines()[-1])  # OWN prints it
    if not shape and not scenario.run_time:
        raise BadInput(f"--run-time is missing: {path} has no LoadTestShape, which would end the load. Give --run-time 30s")
    if not shape or shape["takes_options"]:
        return scenario
    if idle := flags({name: given.get(name) for name in ("users", "spawn_rate")}):
        raise BadInput(f"{idle[0]} has no effect: {shape['name']} in {path} decides how many users there are. Leave it out")
    return dataclasses.replace(scenario, users=0)


class LoadFailed(Exception):  # noqa: N818 - an event
    """Locust itself failed. The message quotes the end of its log."""

    unwritten = ""  # why requests are not on record; empty if all are


class Load:
    """Hold one Locust run against a host, which records into ``folder/requests.jsonl``."""

    def __init__(self, supervisor: Supervisor, scenario: Scenario, host: str, folder: Path, workers: int = 0) -> None:
        """Start Locust. Raises OSError.

        workers: how many workers join from other containers; 0: Locust's processes run on this machine.
        """
        self._supervisor = supervisor
        self._scenario = scenario
        self._record = folder / RECORD
        self._record.touch()
        self._workers = workers
        self._log = folder / "logs" / "locust"
        self._log.parent.mkdir(exist_ok=True)
        env, cwd = environment(whole=bool(scenario.own_load)), Path.cwd() if scenario.own_load else HOME
        self._pid = supervisor.start(self._argv(host), env, cwd, self._log, LOCUST)
        self._lines = self._record.open("rb")

    def wait(self, on_progress: Callable[[int], None], is_well: Callable[[], bool]) -> None:
        """Wait until all requests have ended. Call ``on_progress`` with their number whenever it grows.

        Return early if ``is_well`` returns false. Raises LoadFailed if Locust fails.
        """
        asked_s, count = time.monotonic(), 0
        while (status := self._supervisor.exit_of(self._pid)) is None:
            if time.monotonic() - asked_s > ASK_EVERY_S:
                if not is_well():
                    return
                asked_s = time.monotonic()
            if fresh := self._lines.read().count(b"\n"):
                count += fresh
                on_progress(count)
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
        options: dict[str, object] = {"host": f"http://{host}", "record": self._record, "csv": self._record.with_name("locust")}
        options |= {"exit-code-on-error": 0, "loglevel": "WARNING"}
        if scenario.own_load:
            options |= {"locustfile": f"{OWN},{scenario.own_load}", "html": self._record.with_name("locust.html")}
        else:
            options |= {
                "locustfile": LOCUSTFILE,
                "requests": scenario.requests,
                "rate": scenario.rate or 0,
                "connections": scenario.connections or 0,
                "think-ms": scenario.think_ms,
                "seed": scenario.seed,
                "timeout-s": scenario.request_timeout_s,
            }
        users = scenario.locust_users
        limits = {"users": users, "spawn-rate": scenario.spawn_rate or users, "run-time": scenario.run_time}
        options |= {name: value for name, value in limits.items() if value}
        if self._workers:
            options |= {"master-bind-port": MASTER_PORT, "expect-workers": self._workers, "expect-workers-max-wait": 30}
        elif scenario.processes > 1:
            port = free_port()
            options |= {"processes": scenario.processes, "expect-workers": scenario.processes}
            options |= {"master-bind-host": "127.0.0.1", "master-bind-port": port, "master-port": port}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return [sys.executable, "-m", "locust", "--headless", "--only-summary", *(["--master"] if self._workers else []), *words]
