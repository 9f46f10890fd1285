"""Run a scenario in containers, from the host: start the services that the stage needs, run and judge inside, remove them all.

Only this module uses Docker's commands: ``docker compose`` for the whole project,
``docker`` for a fault in one container. ``LAB_COMPOSE`` names another command for the
first (``docker-compose``, say).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
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
from lab.containers.host_control import CUT, MEND, VARIABLE, HostControlServer
from lab.errors import BadInput, LabError, MissingProgram
from lab.interrupts import interruptible
from lab.paths import HOME, REPORTS, need_clone
from lab.scenario import reader as scenarios
from lab.scenario.options import OPTIONS, flags
from lab.scenario.scenario import Scenario, override
from lab.scenario.stages import find_stage
from lab.servers import ports

JUDGE = "locust"  # the service in which the run is made and judged
INSIDE = Path("/lab/reports")
PASSWORD = "mariadb.password"  # noqa: S105 - the name of its file in the folder of the requests to the host
SAVED_WITHIN_S = 60.0  # how long a run that was interrupted may take to judge and to draw
DOWN_TRIES, DOWN_PAUSE_S = 4, 0.5
NETWORK_ACTS = {CUT: "disconnect", MEND: "connect"}


class EngineFailed(LabError):  # noqa: N818 - an event
    """Docker failed; the message quotes it."""


def compose_command() -> list[str]:
    """Return the command of compose on this machine. Raises MissingProgram, and BadInput if LAB_COMPOSE is not a command."""
    if command := os.environ.get("LAB_COMPOSE", "").strip():
        return _words_of(command)
    if (
        shutil.which("docker")
        and subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0
    ):
        return ["docker", "compose"]
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    raise MissingProgram("neither docker compose nor docker-compose is on this machine: see docs/containers.md")


def _words_of(text: str) -> list[str]:
    """Return the words of LAB_COMPOSE. Raises BadInput."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"LAB_COMPOSE: {text!r} is not a command: {str(error).lower()}") from None
    if not words or not shutil.which(words[0]):
        raise BadInput(f"LAB_COMPOSE: there is no program {words[0] if words else ''!r} on this machine")
    return words


@dataclass
class Compose:
    """One project of containers, defined by docker-compose.yml."""

    project: str
    environ: Mapping[str, str]
    command: Sequence[str] = field(default_factory=compose_command)

    def do(self, *words: str, quietly: bool = False) -> None:
        """Run a command of compose. quietly: print no output. Raises EngineFailed, with the output if it was not printed."""
        done = subprocess.run(self._argv(*words), cwd=HOME, env=self.environ, check=False, capture_output=quietly, text=True)
        if done.returncode:
            output = f":\n{done.stderr.strip()[-2000:]}" if quietly else ""
            raise EngineFailed(f"{shlex.join(self._argv(*words))} ended with {done.returncode}{output}")

    def down(self) -> list[str]:
        """Remove all containers. Return the networks that the engine did not remove. Raises
        EngineFailed if more is left.

        The engine sometimes counts an endpoint too many on an unused network. It then keeps the
        network until it restarts (moby issue 42119; once in some ninety times with Docker 20.10).
        That is no reason to lose a run.
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
            self.do("--profile", "*", "down", "--volumes", "--remove-orphans", "--timeout", "1", quietly=True)
        except EngineFailed as failed:
            return failed
        return None

    def run(self, service: str, *words: str) -> int:
        """Run a command in a new container of a service, with its output on our terminal. Return its exit status.

        An interrupt is passed on to the command, once, and the command gets the time to save its results. So compose has a
        session of its own: it would stop the container when it sees the Ctrl-C itself.
        """
        argv = self._argv("run", "--rm", "-T", "--no-deps", service, *words)
        with subprocess.Popen(argv, cwd=HOME, env=self.environ, stdin=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                return process.wait()
            except BaseException:
                with contextlib.suppress(OSError, subprocess.TimeoutExpired):  # a container that has not started has no results
                    docker("kill", "--signal", "INT", self.container(service))
                    process.wait(timeout=SAVED_WITHIN_S)
                raise
            finally:
                process.kill()

    def container(self, service: str) -> str:
        """Return the id of a service's only container. Raises OSError."""
        return self._only_id(service, f"label=com.docker.compose.service={service}")

    def act(self, action: str, target: str) -> None:
        """Carry out an action for a run inside. target: a service, or the id of one of its containers. Raises OSError."""
        if action in NETWORK_ACTS:
            docker("network", NETWORK_ACTS[action], f"{self.project}_{LOCKS}", self._only_id(target, f"id={target}"))
        else:
            docker(action, self.container(target))

    def _only_id(self, name: str, condition: str) -> str:
        ids = docker("ps", "--all", "--quiet", "--filter", self._label, "--filter", condition).split()
        if len(ids) != 1:
            raise OSError(f"{self.project} has {len(ids)} containers named {name}, and not exactly 1")
        return ids[0]

    @property
    def _label(self) -> str:
        return f"label=com.docker.compose.project={self.project}"

    def _argv(self, *words: str) -> list[str]:
        return [*self.command, "-p", self.project, *words]


def docker(*words: str) -> str:
    """Return the output of a ``docker`` command. Raises OSError with its error output when it fails."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip())
    return done.stdout


def services(stage: Stage, scenario: Scenario) -> list[str]:
    """Return the services that the stage needs before its replicas, by their names in docker-compose.yml."""
    stores = names(stage.store, scenario) if stage.store else []
    return stores + ([] if resources.kind(stage.resource).in_lock_store else [COUNTER])


def run_there(scenario_name: str, stage_name: str, given: Mapping[str, Any], as_json: bool, draw: bool, commit: str) -> int:
    """Run ``lab run --engine docker``, and return the exit status of the run inside.

    commit: the commit of this clone, which the image and so the run records. Raises BadInput, MissingProgram, EngineFailed.
    """
    need_clone("--engine docker")
    stage = find_stage(stage_name)
    if stage.lookup != stage.name:
        raise BadInput(f"{stage_name} is a file on this machine, which the image does not contain; move it into app/locks")
    scenario = scenarios.load(scenario_name)
    if scenario.name not in scenarios.names():
        raise BadInput(f"{scenario_name} is a file on this machine, which the image does not contain; move it into scenarios")
    if load := given.get("load"):
        raise BadInput(f"--load: {load} is a file on this machine, which the image does not contain; leave out --engine docker")
    scenario = override(scenario, stage, given)
    refuse(stage, scenario, control=True)
    project = f"lab-{os.getpid()}"
    control = REPORTS.resolve() / f".hands-{project}"
    compose = Compose(project, _environment(stage, control, commit))
    words = flags({name: given.get(name) for name in OPTIONS})
    words += ["--json"] * as_json + ["--no-draw"] * (not draw)
    with interruptible(), _host_control(control, compose), _taken_down(compose, control):
        _up(compose, stage, scenario)
        return compose.run(JUDGE, "lab", "run", scenario.name, "--stage", stage.name, *words)


def _environment(stage: Stage, control: Path, commit: str) -> dict[str, str]:
    """Return the values of the variables in docker-compose.yml. Run folders get the owner of the folder that contains them."""
    reports = REPORTS.resolve()
    reports.mkdir(exist_ok=True)
    owner = reports.stat()
    return os.environ | {
        "STAGE": stage.name,
        "LAB_COMMIT": commit,
        "LAB_UID": str(owner.st_uid),
        "LAB_GID": str(owner.st_gid),
        "LAB_REPORTS": str(reports),
        VARIABLE: str(INSIDE / control.name),
        "LAB_PORT": str(ports.free_port(page=True)),
        "MARIADB_PASSWORD_FILE": str(control / PASSWORD),
    }


@contextlib.contextmanager
def _host_control(folder: Path, compose: Compose) -> Iterator[None]:
    server = HostControlServer(folder, compose.act)
    owner, password = folder.parent.stat(), folder / PASSWORD
    password.touch(mode=0o600)
    password.write_text(secrets.token_hex(16), encoding="utf-8")
    for path in (folder, password):
        os.chown(path, owner.st_uid, owner.st_gid)
    server.start()
    try:
        yield
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)  # usually removed already by the cleanup process


@contextlib.contextmanager
def _taken_down(compose: Compose, folder: Path) -> Iterator[None]:
    """Remove all containers when the block ends, or when this process has ended. Raises EngineFailed."""
    argv = [sys.executable, "-m", "lab.containers.cleanup", compose.project, str(folder)]
    process = subprocess.Popen(
        argv,
        cwd=HOME,
        env=compose.environ,
        pass_fds=[ports.block().held],  # the port is taken until the containers are down
        start_new_session=True,
        text=True,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process as cleanup:
        try:
            yield
        finally:
            _, output = cleanup.communicate("done")
    if cleanup.returncode:
        raise EngineFailed(output)
    sys.stderr.write(output)


def _up(compose: Compose, stage: Stage, scenario: Scenario) -> None:
    """Start only the services that the run needs."""
    workers = [WORKERS] if scenario.processes > 1 else []
    scale = ["--scale", f"{REPLICAS}={scenario.replicas}"]
    scale += ["--scale", f"{WORKERS}={scenario.processes}"] if workers else []
    needed = [*services(stage, scenario), REPLICAS, *workers, NGINX]
    compose.do("build", REPLICAS, JUDGE, quietly=True)
    compose.do("up", "-d", "--no-deps", *scale, *needed, quietly=True)
