"""Servers that stay up serve the next run, and nothing of the run before reaches it."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator
from contextlib import closing

import psutil
import pytest

from lab.errors import NotReady
from lab.evidence import run_folder
from lab.scenario import reader as scenarios
from lab.servers import supervised
from lab.servers.supervised import KeptServers, can_be_kept, keeping, lent
from lab.servers.supervisor import Supervisor
from tests.command import runs
from tests.every import every

RUSH = scenarios.load("rush")


@dataclasses.dataclass(frozen=True)
class Echo:
    """A program that writes a line and waits."""

    name: str
    executable: str = "sh"
    stop_signal: signal.Signals = signal.SIGKILL

    def argv(self, port, folder):
        return ["-c", "echo started; exec sleep 1000"]

    def env(self, port):
        return {}

    def ready(self, port, pid):
        return psutil.Process(pid).name() == "sleep"  # its line is written by then

    def tidy(self, folder):
        """Delete nothing."""


class Shelf:
    """A store of two servers. ``left`` is raised when they are cleared."""

    def __init__(self) -> None:
        self.left: Exception | None = None

    def programs(self, scenario):
        return [Echo("one"), Echo("two")]

    def clear(self, running):
        if self.left is not None:
            raise self.left


@pytest.fixture
def shelf(monkeypatch) -> Shelf:
    store = Shelf()
    monkeypatch.setattr(supervised.stores, "stores", lambda: {"shelf": store, "other": object()})
    return store


@pytest.fixture(scope="module")
def supervisor() -> Iterator[Supervisor]:
    with closing(Supervisor()) as one:
        yield one


@pytest.fixture
def kept() -> Iterator[KeptServers]:
    with closing(KeptServers()) as one:
        yield one


def alive(pid: int) -> bool:
    """Return whether a process with this pid runs."""
    return psutil.pid_exists(pid) and runs(psutil.Process(pid))


def pids_of(kept: KeptServers, supervisor: Supervisor, logs) -> list[int]:
    """Lend the servers to a run that does nothing. Return their pids."""
    with kept.lend(supervisor, "shelf", RUSH, logs) as running:
        return [one.pid for one in running]


def test_servers_serve_the_next_run(shelf, kept, supervisor, tmp_path):
    """Two runs have the same servers; the log of each run has what was written meanwhile."""
    first = pids_of(kept, supervisor, tmp_path / "runs" / "a" / "logs")
    with kept.lend(supervisor, "shelf", RUSH, tmp_path / "runs" / "b" / "logs") as running:
        for one in running:
            with one.log.open("a") as log:
                log.write(f"{one.name} in b\n")
    assert [one.pid for one in running] == first
    assert (tmp_path / "runs" / "b" / "logs" / "two" / "log").read_text(encoding="utf-8") == "two in b\n"
    assert run_folder.take_abandoned(tmp_path) == []  # the folder of the servers is not one of a killed lab

    kept.close()
    assert not any(map(alive, first))
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["a", "b"]


@pytest.mark.parametrize("error", [OSError("keys are left"), NotReady("sessions are left")])
def test_servers_that_are_not_empty_are_ended(shelf, kept, supervisor, tmp_path, error):
    """Where something is left of the run before, the next run gets new servers."""
    first = pids_of(kept, supervisor, tmp_path / "runs" / "a" / "logs")
    shelf.left = error
    second = pids_of(kept, supervisor, tmp_path / "runs" / "b" / "logs")

    assert not set(first) & set(second)
    assert not any(map(alive, first))


def test_servers_of_a_failed_run_are_ended(shelf, kept, supervisor, tmp_path):
    """Servers do not outlive a run that failed."""
    with (
        pytest.raises(RuntimeError),
        kept.lend(supervisor, "shelf", RUSH, tmp_path / "runs" / "a" / "logs") as running,
    ):
        raise RuntimeError
    assert not any(alive(one.pid) for one in running)


def test_a_server_that_ended_is_not_lent(shelf, kept, supervisor, tmp_path):
    """A server that ended between two runs is replaced, and the others with it."""
    first = pids_of(kept, supervisor, tmp_path / "runs" / "a" / "logs")
    kept.running[0].kill()
    second = pids_of(kept, supervisor, tmp_path / "runs" / "b" / "logs")

    assert not set(first) & set(second)


def test_servers_stay_only_where_a_process_keeps_them(shelf, supervisor, tmp_path):
    """A run of its own starts its own servers; in a worker, a run that uses other servers ends those of before."""
    logs = tmp_path / "runs" / "a" / "logs"
    with lent(supervisor, ["shelf"], RUSH, logs) as found:
        assert found == {}
    with keeping():
        with lent(supervisor, ["shelf"], RUSH, logs) as found:
            pids = [one.pid for one in found["shelf"]]
        assert supervised.pids() == pids
        supervisor.end_all(supervised.pids())
        assert all(map(alive, pids))
        with lent(supervisor, ["other"], RUSH, logs) as found:
            assert (found, supervised.pids()) == ({}, [])
    assert not any(map(alive, pids))


@every("scenario", ["leader_killed", "node_down", "clock_jump", "store_restart_persisted"])
def test_damaged_servers_are_not_kept(scenario):
    """Servers that a fault kills, that do not run, or whose clocks are shifted belong to their run alone."""
    assert not any(can_be_kept(store, scenarios.load(scenario)) for store in ("etcd", "zookeeper", "mysql", "postgresql"))


def test_slow_stores_are_kept():
    """The servers that are slow to start stay up; a Redis server is always a new one."""
    kept = [store for store in supervised.stores.stores() if can_be_kept(store, scenarios.load("frozen_holder"))]

    assert sorted(kept) == ["etcd", "mysql", "postgresql", "zookeeper"]
