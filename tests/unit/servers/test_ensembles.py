"""A store of several servers: three where it is an ensemble, and restarted as a whole."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from lab.report.run_data import Result
from lab.scenario import reader
from lab.scenario.requirements import ENSEMBLES
from lab.servers.fault_target import FaultTarget
from lab.servers.stores import stores
from tests.builders import record_of


class Member:
    """A server that is ready only when all members start, as a member of an ensemble is."""

    def __init__(self, all_start: threading.Barrier) -> None:
        self.all_start = all_start
        self.killed = False

    def kill(self):
        self.killed = True

    def start_again(self):
        self.all_start.wait(5)
        self.killed = False

    def resume(self):
        pass


@pytest.mark.parametrize("name", ENSEMBLES)
def test_ensemble_has_three_servers(name):
    """Where a scenario states nothing else, an ensemble has three servers."""
    assert len(stores()[name].programs(reader.load("rush"))) == 3


@pytest.mark.parametrize("act", [FaultTarget.restart_lock_store, lambda target: target.recover_nodes([1, 2, 3])])
def test_members_start_together(act):
    """All members of an ensemble are started before the first is waited for."""
    all_start = threading.Barrier(3)
    members = [Member(all_start) for _ in range(3)]
    for member in members:
        member.kill()

    act(FaultTarget("etcd", members, (), {}))

    assert not any(member.killed for member in members)


@pytest.mark.parametrize(("recorded", "in_scenario", "expected"), [(3, {"store_nodes": 3}, 3), (None, {}, 1), (1, {}, 1)])
def test_servers_behind_a_speed(recorded, in_scenario, expected):
    """A table of speeds states how many servers the lock's store had; in an old record, that follows from the scenario."""
    record = record_of(in_scenario, {"store": "etcd"}, lock_servers=recorded)

    assert Result.lock_servers.fget(SimpleNamespace(record=record)) == expected
