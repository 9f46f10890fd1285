"""Runs in containers have the shape and the verdict of local runs, with and without a fault, and leave nothing behind.

They need a Docker engine: ``pytest tests/containers``. LAB_COMPOSE names the command for docker compose.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.request import urlopen

import pytest

from lab.containers.compose import Compose, docker
from lab.run.environment import commit
from lab.scenario.options import flags
from lab.servers.ports import free_port
from tests.command import LAB, Done, lab, wait_for
from tests.sampled import sampled

SOMEBODY = 1234  # the id of a user who does not run the tests
PORTS = {name: str(free_port()) for name in ("LAB_PORT", "LAB_UI_PORT", "LAB_LIVE_PORT")}


def contained(scenario: str, stage: str, cwd: Path, **options: object) -> Done:
    """Run ``lab run SCENARIO --stage STAGE --engine docker``, and check that nothing of it is left."""
    command = ("run", scenario, "--stage", stage, "--engine", "docker", "--no-draw", *flags(options))
    before = networks()
    done = lab(*command, cwd=cwd, timeout_s=240)
    assert done.status in (0, 1, 3), done.err
    assert not ours()
    for kept in networks() - before:  # the engine did not remove it, although it has no container, and the lab reported that
        assert docker("network", "inspect", kept, "--format", "{{len .Containers}}").strip() == "0"
        assert f"the engine keeps the network {kept}" in done.err
    assert not list((cwd / "reports").glob(".hands-*"))
    return done


def networks() -> set[str]:
    return set(docker("network", "ls", "--format", "{{.Name}}").split())


OF_ONE_RUN = ("versions", "commands", "evidence", "violations")
OF_THIS_MACHINE = ("others_percent", "processor_s", "processor_ms_per_increment")  # not known of a run in containers
OF_CONTAINERS = ("clock_of",)  # each container is asked for its clock


def shape(value: object) -> object:
    """Return the keys of a record, however deep, with the type of each value, and without keys in which runs may differ."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items() if key not in OF_ONE_RUN + OF_THIS_MACHINE + OF_CONTAINERS}
    return type(value).__name__


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*.js*") if path.is_file()}


@pytest.mark.parametrize(("stage", "requests"), sampled([("none", 1000), ("lua", 700)], ["none"]))
def test_container_run_is_like_a_local_run(stage, requests, tmp_path):
    """A run in containers has the same files and the same verdict as a local run."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    about = {"requests": requests, "wait_ms": 60_000}  # a waiter that polls may be overtaken for long
    local = lab("run", "rush", "--stage", stage, "--no-draw", *flags(about), cwd=here)  # a worker would write the site later
    container = contained("rush", stage, there, **about)

    assert container.status == local.status
    assert container.verdict["verdict"] == local.verdict["verdict"]
    assert (container.verdict["requests"], container.verdict["acknowledged"]) == (requests, requests)
    assert (container.verdict["lost"] > 0) == (local.verdict["lost"] > 0)
    assert container.verdict["lost"] == container.verdict["writes"] - container.verdict["final"]
    assert files(container.folder) == files(local.folder)
    for name in ("run.json", "verdict.json"):
        one, other = (json.loads((done.folder / name).read_text(encoding="utf-8")) for done in (local, container))
        assert shape(one) == shape(other)
    run = json.loads((container.folder / "run.json").read_text(encoding="utf-8"))
    assert run["commit"] == commit()  # the commit of the image
    assert {name for name in run["versions"] if "package" not in name} == {"python", "redis-server", "nginx"}  # those that ran


@pytest.mark.parametrize(("stage", "verdict"), sampled([("watchdog", "ADMITTED"), ("fencing", "KEPT")], ["fencing"]))
def test_cut_off_replica_needs_a_fence(stage, verdict, tmp_path):
    """A replica that is cut off from the lock's store goes on; only a fence stops its writes."""
    done = contained("cut_off", stage, tmp_path)

    assert done.verdict["verdict"] == verdict, done.verdict["why"]
    assert done.verdict["danger"]["late_releases"]["seen"] >= 1


def test_killed_lab_leaves_no_container(tmp_path):
    """Containers do not outlive a lab that was killed."""
    argv = [LAB, "run", "rush", "--stage", "none", "--engine", "docker", "--requests", "1000000"]
    with subprocess.Popen(argv, cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL) as running:
        assert wait_for(lambda: len(ours()) >= 5, within_s=120)  # the counter, three replicas, and nginx
        running.kill()

    wait_for(lambda: not ours(), within_s=60)
    wait_for(lambda: not list((tmp_path / "reports").glob(".hands-*")), within_s=30)


def test_interrupted_run_is_kept(tmp_path):
    """Ctrl-C keeps the partial run with its verdict, and leaves no container."""
    argv = [LAB, "run", "rush", "--stage", "lua", "--engine", "docker", "--requests", "1000000", "--no-draw"]
    runs = tmp_path / "reports" / "runs"

    def driven() -> bool:
        return any(path.stat().st_size > 10_000 for path in runs.glob(".*.part/requests.jsonl"))

    with subprocess.Popen(argv, cwd=tmp_path, start_new_session=True, stdout=subprocess.DEVNULL) as running:
        try:
            assert wait_for(driven, within_s=480)  # the image may have to be built
        finally:
            os.killpg(running.pid, signal.SIGINT)
        assert running.wait(timeout=120) == 130

    (folder,) = runs.glob("2*")
    assert json.loads((folder / "run.json").read_text(encoding="utf-8"))["ended"] == "interrupted"
    assert json.loads((folder / "verdict.json").read_text(encoding="utf-8"))["acknowledged"] > 50
    assert not list(runs.glob(".*.part"))
    assert not ours()


def ours() -> list[str]:
    """Return the ids of the containers of all compose projects."""
    return docker("ps", "--all", "--quiet", "--filter", "label=com.docker.compose.project").split()


def test_store_paused_by_the_engine(tmp_path):
    """A store that the engine paused goes on afterwards, and the verdict is KEPT."""
    done = contained("two_nodes_silent", "redlock", tmp_path)

    assert done.verdict["verdict"] == "KEPT"


@pytest.fixture
def up(tmp_path) -> Iterator[Compose]:
    """Yield the compose file's project as a user starts it, with a folder of reports that belongs to another user."""
    reports = tmp_path / "reports"
    reports.mkdir()
    os.chown(reports, SOMEBODY, SOMEBODY)
    who = {"LAB_UID": str(SOMEBODY), "LAB_GID": str(SOMEBODY), "LAB_REPORTS": str(reports)}
    compose = Compose("lab-up", os.environ | who | PORTS | {"STAGE": "incr"})
    try:
        compose.do("up", "-d", "--build")
        yield compose
    finally:
        compose.down()


def test_compose_up_serves_the_counter(up, tmp_path):
    """The compose file serves the counter and the pages, which ask for a key; reports of a run belong to their owner."""

    def pages_up() -> list[bool]:
        """Return whether Locust's page and the live page answer: both ask for the teacher's key."""
        return [_asked(int(PORTS[name])) in (303, 403) for name in ("LAB_UI_PORT", "LAB_LIVE_PORT")]

    def serving() -> str:
        with urlopen(f"http://127.0.0.1:{up.environ['LAB_PORT']}/health", timeout=2) as answer:
            return str(json.load(answer)["stage"])

    assert wait_for(lambda: _or_none(serving)) == "incr"
    assert wait_for(lambda: _or_none(pages_up)) == [True, True]
    status = up.run("locust", "lab", "run", "rush", "--stage", "incr", "--requests", "500")

    folder = (tmp_path / "reports" / "runs" / "latest").resolve()
    assert status == 0
    assert {path.stat().st_uid for path in folder.rglob("*")} == {SOMEBODY}
    assert (folder / "report.html").exists()


def test_sentinel_knows_both_redis():
    """The sentinel knows the lock's Redis and its replica."""
    compose = Compose("lab-sentinel", os.environ | {"COMPOSE_PROFILES": "sentinel"})

    def said(*words: str) -> list[str]:
        return docker("exec", compose.container("sentinel"), "redis-cli", "-p", "26379", "sentinel", *words, "lock").split()

    try:
        compose.do("up", "-d", "sentinel", quietly=True)
        assert wait_for(lambda: _or_none(lambda: said("get-master-addr-by-name"))) == ["lock-redis", "6379"]
        assert wait_for(lambda: "lock-replica:6379" in said("replicas"))
    finally:
        compose.down()


def _asked(port: int) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", "/")
        return connection.getresponse().status
    except HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()


def _or_none(ask):
    try:
        return ask()
    except OSError:
        return None
