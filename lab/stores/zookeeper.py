"""ZooKeeper: one server, or an ensemble where the scenario asks for it. What happens to its nodes is told by nobody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lab.scenario import Scenario
from lab.service import Running, Service, free_port
from lab.services.zookeeper import ZooKeeper, said
from lab.store import Witnessing

# the server tells reads (heartbeats among them) from updates, and no more
COUNTED = re.compile(r"^zk_cnt_(read|update)latency\t(\d+)", re.MULTILINE)
LEADS = re.compile(r"^Mode: (leader|standalone)$", re.MULTILINE)


def services(scenario: Scenario) -> list[Service]:
    if scenario.store_nodes == 1:
        return [ZooKeeper("lock-zookeeper")]
    numbers = range(1, scenario.store_nodes + 1)
    peers = {number: (free_port(), free_port()) for number in numbers}
    return [ZooKeeper(f"lock-zookeeper-{number}", number, peers) for number in numbers]


def url(running: Sequence[Running]) -> str:
    return ",".join(one.address for one in running)


def commands(running: Sequence[Running]) -> dict[str, int]:
    calls: dict[str, int] = {}
    for one in running:
        if not one.away:
            for kind, count in COUNTED.findall(said(one.port, "mntr")):
                calls[kind] = calls.get(kind, 0) + int(count)
    return calls


def witnesses(running: Sequence[Running], path: Path) -> list[Witnessing]:
    return []


def leader(running: Sequence[Running]) -> Running:
    """The one that leads. Raises OSError when none does."""
    for one in running:
        if LEADS.search(said(one.port, "srvr")):
            return one
    raise OSError("no ZooKeeper server leads")
