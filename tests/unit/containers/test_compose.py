"""Test that the files for containers agree with a local run, and that an impossible scenario is refused by name."""

import os
import re
import subprocess
import time
from contextlib import nullcontext
from dataclasses import replace

import pytest
import yaml

from app.locks import stages
from app.shelf import plugins
from lab.containers import cluster as containers
from lab.containers import engine as containers_engine
from lab.containers.agent import REPLICA_PORT
from lab.containers.cluster import COUNTER, LOCKS, NGINX, NGINX_PORT, PROFILES, REPLICA, REPLICAS, names, place, refuse
from lab.containers.compose import SAVED_WITHIN_S, Compose, EngineFailed, compose_command, services
from lab.containers.host_control import HostControl, HostControlServer
from lab.containers.server import PORTS
from lab.errors import BadInput
from lab.paths import HOME
from lab.scenario import reader
from lab.scenario.fault import Need, Target
from lab.scenario.faults import faults
from lab.servers.programs.redis import Sentinel
from tests.every import every

FILES = {path.name: yaml.safe_load(path.read_text(encoding="utf-8"))["services"] for path in HOME.glob("docker-*.yml")}
COMPOSE = FILES["docker-compose.yml"]
STACK = FILES["docker-stack.stores.yml"] | FILES["docker-stack.yml"]
RUSH = reader.load("rush")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nowhere compose", "there is no program 'nowhere'"),
        ("docker 'compose", "is not a command: no closing quotation"),
        ("''", "there is no program ''"),
    ],
)
def test_wrong_command_of_compose(monkeypatch, text, words):
    """A LAB_COMPOSE that is no command is refused as bad input."""
    monkeypatch.setenv("LAB_COMPOSE", text)

    with pytest.raises(BadInput, match=f"LAB_COMPOSE: .*{words}"):
        compose_command()


@every("store", lambda: sorted(PORTS))
def test_servers_are_services(store):
    """Every server that a local run starts is a service, in the network of the locks."""
    for name in names(store, RUSH):
        assert name in STACK
        assert COMPOSE[name].get("profiles", [""]) == [PROFILES.get(store, "")]
        assert COMPOSE[name]["networks"] == [LOCKS]


@every("store", lambda: sorted({*plugins.names("lab.servers.stores")} - {*PORTS}))
def test_stores_without_a_service(store):
    """A store that has no service is refused by name."""
    with pytest.raises(BadInput, match=f"no service has its store, {store}"):
        refuse(replace(stages()["lua"], store=store), RUSH, control=True)


def test_addresses_of_services():
    """Replicas, proxy and sentinel have the addresses that the lab uses, and replicas reach the counter on a second network."""
    config = (HOME / "lab/containers/config/nginx.conf").read_text(encoding="utf-8")

    assert f"set $replicas {REPLICAS};" in config
    assert f"$replicas:{REPLICA_PORT};" in config
    assert f"listen {NGINX_PORT} " in config
    assert {COUNTER, NGINX, Sentinel().name} <= COMPOSE.keys()
    assert COMPOSE[REPLICAS]["networks"] == {"default": {"aliases": [REPLICA]}, LOCKS: {}}
    assert COMPOSE[COUNTER]["networks"] == ["default"]
    assert "networks" not in COMPOSE[NGINX]  # so it is on the default network


@every("name", lambda: sorted(COMPOSE))
def test_published_ports(name):
    """Only the proxy and the pages are published: on loopback alone, and in a Swarm only by the file of published ports."""
    published = COMPOSE[name].get("ports", [])

    assert all(port.startswith("127.0.0.1:") for port in published)
    assert bool(published) == (name in ("nginx", "locust")) == (name in FILES["docker-stack.ports.yml"])
    assert "ports" not in STACK.get(name, {})


@every("name", lambda: sorted(COMPOSE))
def test_limits(name):
    """Every service has a health check and limits, and only MariaDB and the lab know the password of a store."""
    service, swarm = COMPOSE[name], STACK.get(name)

    assert service["healthcheck"]["test"]
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert swarm is None or swarm["deploy"]["resources"]["limits"].keys() == {"memory", "pids"}
    assert "PASSWORD" not in str(service.get("environment"))
    assert ("/run/secrets" in str(service.get("volumes"))) == (name in ("mariadb", "locust"))
    assert ("secrets" in FILES["docker-stack.stores.yml"].get(name, {})) == (name in ("mariadb", "locust"))


def test_stack_is_known_as_a_swarm(monkeypatch):
    """The lab knows from its environment that a stack has several hosts, and the compose file has one."""
    for file, has_hosts in ((STACK, True), (COMPOSE, False)):
        monkeypatch.setenv(containers_engine.VARIABLE, file["locust"]["environment"]["LAB_ENGINE"])
        assert containers_engine.cluster().keywords == {"has_hosts": has_hosts}


@pytest.mark.parametrize(
    ("has_hosts", "command"), [(False, "docker compose up -d --scale app=3"), (True, "service scale lab_app=3")]
)
def test_other_number_of_replicas(monkeypatch, has_hosts, command):
    """A wrong number of replicas or workers is refused with the command of the engine that corrects it."""
    monkeypatch.setattr(containers, "addresses", lambda name: ["one", "two"])

    with pytest.raises(BadInput, match=f"2 containers of app are up.*, and this run needs 3: .*{command}"):
        containers._replicas(RUSH, has_hosts)
    with pytest.raises(BadInput, match=r"2 containers of locust-worker are up.*, and this run needs 1: .*--processes 2"):
        containers._workers(RUSH, has_hosts)
    monkeypatch.setattr(containers, "addresses", lambda name: [])
    with pytest.raises(BadInput, match=r"0 containers of app are up.*app=3$"):
        containers._replicas(RUSH, has_hosts)
    with pytest.raises(BadInput, match=r"0 containers of locust-worker are up.*; or give --processes 1$"):
        containers._workers(replace(RUSH, processes=2), has_hosts)


def test_only_needed_services_start():
    """Only the services that the stage needs are started."""
    assert services(stages()["none"], RUSH) == [COUNTER]
    assert services(stages()["lua"], RUSH) == ["lock-redis", COUNTER]
    assert services(stages()["mysql_for_update"], RUSH) == ["mariadb"]


@every(
    "name, stage, word",
    [
        ("failover", "lua", "store_replica"),
        ("clock_jump", "redlock", "store_clocks"),
        ("leader_killed", "etcd", "kill_leader"),
        ("store_restart_persisted", "lua", "store_persists"),
        ("power_loss_no", "lua", "store_persists"),
        ("session_loss", "mysql_for_update", "end_session"),
    ],
)
def test_refusals_in_containers(name, stage, word):
    """A scenario that cannot work in containers is refused, with the name of its need."""
    with pytest.raises(BadInput, match=rf"{name} does not work in containers.*{word}"):
        refuse(stages()[stage], reader.load(name), control=True)


@every(
    "name, stage, refused",
    [
        ("holder_crash", "lua", False),
        ("frozen_holder", "fencing", False),
        ("late_writes", "local", False),
        ("slow_holder", "ttl", False),
        ("release_race", "uuid", False),
        ("cut_off", "fencing", True),
        ("node_down", "redlock", True),
    ],
)
def test_faults_over_several_hosts(name, stage, refused):
    """A fault that a replica injects into itself works in a Swarm; a fault in another container is refused by name."""
    scenario = reader.load(name)

    refuse(stages()[stage], scenario, control=True)
    for has_hosts, where in ((True, "which no container of a Swarm can do"), (False, "which only the host can do")):
        advice = f"{where}.*make scenario STAGE={stage} SCENARIO={name} ENGINE=docker"
        with pytest.raises(BadInput, match=advice) if refused else nullcontext():
            refuse(stages()[stage], scenario, control=False, has_hosts=has_hosts)


def test_the_page_has_every_fault():
    """docs/containers.md names each fault once, and calls exactly the impossible ones refused."""
    page = (HOME / "docs" / "containers.md").read_text(encoding="utf-8").partition("## Faults in containers")[2]
    rows = [row.split("|")[1:3] for row in page.splitlines() if row.startswith("| `")]
    named = [(kind, "refused" in how) for what, how in rows for kind in re.findall(r"`(\w+)`", what) if kind in faults()]
    never = {*place(stages()["zookeeper"]).lacking, Need.REPLICA}
    refused = {kind: bool(never & {*one.needs}) or one.target is Target.COUNTER for kind, one in faults().items()}

    assert sorted(named) == sorted(refused.items())


def test_host_control_acts_and_reports(tmp_path):
    """The host does each requested act, and its error is raised by the request."""
    done = []

    def act(what: str, service: str) -> None:
        if service == "nobody":
            raise OSError("there is no such container")
        done.append((what, service))

    control, answering = HostControl(tmp_path), HostControlServer(tmp_path, act)
    answering.start()
    try:
        control.do("pause", "lock-redis")
        with pytest.raises(OSError, match="pause nobody: there is no such container"):
            control.do("pause", "nobody")
    finally:
        answering.close()
    assert done == [("pause", "lock-redis")]


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """Return a function that makes an engine; its ``docker ... ls`` and ``docker ps`` answer with these texts."""
    fake = tmp_path / "docker"
    fake.write_text(f"#!/bin/sh\ncat {tmp_path}/$1\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("lab.containers.compose.DOWN_PAUSE_S", 0)

    def answers(networks: str, containers: str, down: str) -> Compose:
        (tmp_path / "network").write_text(networks, encoding="utf-8")
        (tmp_path / "ps").write_text(containers, encoding="utf-8")
        return Compose("lab-1", {}, [down])

    return answers


def test_down_ends_the_stores_of_profiles(engine, monkeypatch):
    """`down` names all profiles, because Compose v5 keeps the containers of a profile that is not named."""
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(Compose, "do", lambda _, *words, quietly: calls.append(words))

    engine("", "", "true").down()

    assert calls[0][:3] == ("--profile", "*", "down")


DOCKER = """#!/bin/sh
echo "$@" >>{folder}/calls
case "$1" in
  ps) echo c1 ;;
  kill) kill -USR1 $(cat {folder}/pid) ;;
esac
"""
COMPOSE_RUN = """#!/bin/sh
trap 'echo saved >{folder}/results; exit 130' USR1
trap 'echo stopped >{folder}/results; exit 2' INT TERM
echo $$ >{folder}/starting && mv {folder}/starting {folder}/pid
for i in $(seq 500); do sleep 0.02; done
"""


def test_interrupt_saves_the_run(tmp_path, monkeypatch):
    """An interrupt reaches the run in the container once, and compose itself is not interrupted."""
    for name, text in (("docker", DOCKER), ("compose", COMPOSE_RUN)):
        (tmp_path / name).write_text(text.format(folder=tmp_path), encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    wait, interrupts = subprocess.Popen.wait, [KeyboardInterrupt()]

    def interrupted_once(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        while not (tmp_path / "pid").exists():
            time.sleep(0.01)
        if interrupts:
            raise interrupts.pop()
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", interrupted_once)
    with pytest.raises(KeyboardInterrupt):
        Compose("lab-1", os.environ, [str(tmp_path / "compose")]).run("locust", "lab", "run", "rush")

    assert (tmp_path / "results").read_text(encoding="utf-8") == "saved\n"
    assert (tmp_path / "calls").read_text(encoding="utf-8").splitlines()[-1] == "kill --signal INT c1"


def test_judge_has_time_to_save():
    """A container in which a run is judged is not killed while it saves the run."""
    assert COMPOSE["locust"]["stop_grace_period"] == f"{SAVED_WITHIN_S:.0f}s"


@pytest.mark.parametrize(
    ("networks", "down"),
    [
        ("lab-1_default\n", "true"),  # compose 2 reports success
        ("lab-1_default\n", "false"),  # compose 1 reports a failure
        ("", "true"),
    ],
)
def test_kept_network_loses_no_run(engine, networks, down):
    """An empty network that the engine keeps is returned by name, and is no error."""
    assert engine(networks, "", down).down() == networks.split()


@pytest.mark.parametrize(("networks", "containers"), [("lab-1_default\n", "4f1d\n"), ("", "")])
def test_failed_down_is_reported(engine, networks, containers):
    """A failed `down` is reported if a container is left, or if the engine lists no network: then nothing is known."""
    with pytest.raises(EngineFailed, match="down --volumes"):
        engine(networks, containers, "false").down()
