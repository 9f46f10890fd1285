"""A run in containers from the host: bring up what the stage needs, have it run and judged inside, take all of it down.

Only Docker's own interfaces are used, and only from here: ``docker compose`` for what belongs together, ``docker`` for what a
fault does to one container. ``LAB_COMPOSE`` names another command for the first (``docker-compose``, say).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app import resources
from app.lock import Stage
from lab.containers.cluster import COUNTER, LOCKS, NGINX, REPLICAS, WORKERS, names, refuse
from lab.containers.host_control import CUT, KILL, MEND, PAUSE, RELOAD, START, UNPAUSE, VARIABLE, HostControlServer
from lab.errors import BadInput, LabError, MissingProgram
from lab.interrupts import interruptible
from lab.paths import HOME, REPORTS
from lab.scenario import scenario as scenarios
from lab.scenario.options import flags
from lab.scenario.overrides import override
from lab.scenario.scenario import OVERRIDES, Scenario
from lab.scenario.stages import find_stage
from lab.servers.process import free_port

INSIDE = Path("/lab/reports")
ACTS = {
    KILL: ("kill",),
    START: ("start",),
    PAUSE: ("pause",),
    UNPAUSE: ("unpause",),
    RELOAD: ("kill", "--signal", "HUP"),
}
DOWN_TRIES, DOWN_PAUSE_S = 4, 0.5
NETWORK_ACTS = {CUT: "disconnect", MEND: "connect"}


class EngineFailed(LabError):  # noqa: N818 - says what happened
    """Docker did not do what it was asked; the message holds its words."""


def compose_command() -> list[str]:
    """How to speak to compose here. Raises MissingProgram."""
    if given := os.environ.get("LAB_COMPOSE"):
        return shlex.split(given)
    if (
        shutil.which("docker")
        and subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0
    ):
        return ["docker", "compose"]
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    raise MissingProgram("neither docker compose nor docker-compose is on this machine: docs/containers.md says what is needed")


@dataclass
class Compose:
    """One project of containers, by the file at the top of this repository."""

    project: str
    environ: Mapping[str, str]
    command: Sequence[str] = field(default_factory=compose_command)

    def do(self, *words: str, quietly: bool = False) -> None:
        """Raises EngineFailed, with what it said if that was not heard already."""
        done = subprocess.run(self._argv(*words), cwd=HOME, env=self.environ, check=False, capture_output=quietly, text=True)
        if done.returncode:
            said = f":\n{done.stderr.strip()[-2000:]}" if quietly else ""
            raise EngineFailed(f"{shlex.join(self._argv(*words))} ended with {done.returncode}{said}")

    def down(self) -> list[str]:
        """Take all of it away. Returns the networks that the engine would not give up. Raises EngineFailed if more is left.

        An engine may count an endpoint too many on a network that nothing is on, and then keeps it until it starts anew itself
        (moby issue 42119; once in some ninety times with Docker 20.10). That is no reason to lose a run.
        """
        for _ in range(DOWN_TRIES):
            failed = self._down()
            networks = docker("network", "ls", "--filter", self._label, "--format", "{{.Name}}").split()
            if not failed and not networks:
                return []
            time.sleep(DOWN_PAUSE_S)
        if failed and (not networks or docker("ps", "--all", "--quiet", "--filter", self._label).strip()):
            raise failed
        return networks

    def _down(self) -> EngineFailed | None:
        try:
            self.do("down", "--volumes", "--remove-orphans", "--timeout", "1", quietly=True)
        except EngineFailed as failed:
            return failed
        return None

    def run(self, *words: str) -> int:
        """A command in a new container of a service, its words on our terminal; its exit status."""
        with subprocess.Popen(self._argv("run", "--rm", "-T", "--no-deps", *words), cwd=HOME, env=self.environ) as process:
            try:
                return process.wait()
            except BaseException:  # an interrupt: it is told, and writes down what it has
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.send_signal(signal.SIGINT)
                    process.wait(timeout=20)
                raise

    def container(self, service: str) -> str:
        """The id of a service's only container. Raises OSError."""
        return self._only(service, f"label=com.docker.compose.service={service}")

    def act(self, what: str, whom: str) -> None:
        """What the hands of a run inside ask for: of a service, or of one replica of several by its container. Raises OSError."""
        if what in NETWORK_ACTS:
            docker("network", NETWORK_ACTS[what], f"{self.project}_{LOCKS}", self._only(whom, f"id={whom}"))
        else:
            docker(*ACTS[what], self.container(whom))

    def _only(self, whom: str, wanted: str) -> str:
        found = docker("ps", "--all", "--quiet", "--filter", self._label, "--filter", wanted).split()
        if len(found) != 1:
            raise OSError(f"{len(found)} containers of {self.project} are called {whom}")
        return found[0]

    @property
    def _label(self) -> str:
        return f"label=com.docker.compose.project={self.project}"

    def _argv(self, *words: str) -> list[str]:
        return [*self.command, "-p", self.project, *words]


def docker(*words: str) -> str:
    """What ``docker`` prints. Raises OSError with its words when it fails."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip())
    return done.stdout


def services(stage: Stage, scenario: Scenario) -> list[str]:
    """What the stage needs before its replicas, by the names in the file."""
    stores = names(stage.store, scenario) if stage.store else []
    return stores + ([] if resources.kind(stage.resource).in_lock_store else [COUNTER])


def run_there(scenario_name: str, stage_name: str, given: Mapping[str, Any], as_json: bool, draw: bool) -> int:
    """``lab run --engine docker``. Returns the exit status of the run inside. Raises BadInput, MissingProgram, EngineFailed."""
    stage = find_stage(stage_name)
    if stage_name != stage.name:
        raise BadInput(
            f"{stage_name} is a file of this machine, which the image does not have; put it on the shelf, in app/locks"
        )
    scenario = override(scenarios.load(scenario_name), stage, given)
    refuse(stage, scenario, control=True)
    project = f"lab-{os.getpid()}"
    control = REPORTS.resolve() / f".hands-{project}"
    compose = Compose(project, _environment(stage, control))
    words = flags({name: given.get(name) for name in OVERRIDES})
    words += ["--json"] * as_json + ["--no-draw"] * (not draw)
    with interruptible(), _host_control(control, compose), _taken_down(compose, control):
        _up(compose, stage, scenario)
        return compose.run("locust", "lab", "run", scenario.name, "--stage", stage.name, *words)


def _environment(stage: Stage, control: Path) -> dict[str, str]:
    """For the variables in the file. The run folders belong to whoever owns the folder they go to."""
    reports = REPORTS.resolve()
    reports.mkdir(exist_ok=True)
    owner = reports.stat()
    return os.environ | {
        "STAGE": stage.name,
        "LAB_UID": str(owner.st_uid),
        "LAB_GID": str(owner.st_gid),
        "LAB_REPORTS": str(reports),
        VARIABLE: str(INSIDE / control.name),
        "LAB_PORT": str(free_port()),
        "MARIADB_ROOT_PASSWORD": os.environ.get("MARIADB_ROOT_PASSWORD") or secrets.token_hex(16),
    }


@contextlib.contextmanager
def _host_control(folder: Path, compose: Compose) -> Iterator[None]:
    server = HostControlServer(folder, compose.act)
    owner = folder.parent.stat()
    os.chown(folder, owner.st_uid, owner.st_gid)
    server.start()
    try:
        yield
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)  # the undertaker has been there


@contextlib.contextmanager
def _taken_down(compose: Compose, folder: Path) -> Iterator[None]:
    """All containers are gone when the block ends, and when this process does. Raises EngineFailed."""
    argv = [sys.executable, "-m", "lab.containers.cleanup", compose.project, str(folder)]
    undertaking = subprocess.Popen(
        argv, cwd=HOME, env=compose.environ, start_new_session=True, text=True, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with undertaking as undertaker:
        try:
            yield
        finally:
            _, said = undertaker.communicate("done")
    if undertaker.returncode:
        raise EngineFailed(said)
    sys.stderr.write(said)


def _up(compose: Compose, stage: Stage, scenario: Scenario) -> None:
    """What the run needs, and nothing else. nginx last: it resolves the replicas when it starts."""
    scale = ["--scale", f"{REPLICAS}={scenario.replicas}"]
    workers = [WORKERS] if scenario.processes > 1 else []
    scale += ["--scale", f"{WORKERS}={scenario.processes}"] if workers else []
    compose.do("up", "-d", "--build", "--no-deps", *scale, *services(stage, scenario), REPLICAS, *workers, quietly=True)
    compose.do("up", "-d", "--no-deps", "--no-recreate", *scale, NGINX, quietly=True)
