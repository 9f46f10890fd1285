"""The events of a schedule, with a replica that is a process of this test."""

from __future__ import annotations

import subprocess
from types import SimpleNamespace

import pytest

from lab.enact.controller import Controller
from lab.enact.enactment import Enactment, ScheduleScript
from lab.enact.faults import Injected
from lab.explore.search.event import parse

LEASE_MS = 300


@pytest.fixture
def replica():
    """A process that only waits."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def test_a_pause_lasts_as_long_as_in_the_explorer(replica):
    """A replica that is resumed was stopped for as long as the schedule says, also where the cluster was quick or late before."""
    events = parse("pAt300rA")[:3]
    states = [SimpleNamespace(now_ms=now_ms, modes=["paused"]) for now_ms in (0, 0, LEASE_MS, LEASE_MS)]
    moves = [SimpleNamespace(event=event, state=state) for event, state in zip(events, states[1:], strict=True)]
    injected, controller = Injected(events, ["read"] * len(events), LEASE_MS), Controller()
    enactment = Enactment(ScheduleScript(SimpleNamespace(trees=[None]), states, moves, ()), controller, injected, 1.0)
    enactment.system, enactment.pids = SimpleNamespace(replicas=[SimpleNamespace(name="replica-1")]), [replica.pid]

    enactment._enact(0, moves[0])
    enactment._enact(2, moves[2])  # the lease was over at once: it began before the pause
    controller.close()

    (record,) = injected.records.values()
    assert record.recovering_ns - record.at_ns >= LEASE_MS * 1_000_000
