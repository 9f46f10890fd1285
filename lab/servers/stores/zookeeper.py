"""ZooKeeper: one server, or an ensemble where the scenario asks for it. What happens to its nodes is told by nobody."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kazoo.client import KazooClient

from lab.evidence.fault_record import FaultRecord
from lab.scenario.scenario import Scenario
from lab.servers.process import Program, free_port
from lab.servers.programs.zookeeper import ZooKeeper, said
from lab.servers.server import Reachable, Server
from lab.servers.store import EventRecorder

# the server tells reads (heartbeats among them) from updates, and no more
COUNTED = re.compile(r"^zk_cnt_(read|update)latency\t(\d+)", re.MULTILINE)
LEADS = re.compile(r"^Mode: (leader|standalone)$", re.MULTILINE)


def programs(scenario: Scenario) -> list[Program]:
    if scenario.store_nodes == 1:
        return [ZooKeeper("lock-zookeeper")]
    numbers = range(1, scenario.store_nodes + 1)
    peers = {number: (free_port(), free_port()) for number in numbers}
    return [ZooKeeper(f"lock-zookeeper-{number}", number, peers) for number in numbers]


def url(running: Sequence[Reachable]) -> str:
    return ",".join(one.address for one in running)


def commands(running: Sequence[Server]) -> dict[str, int]:
    calls: dict[str, int] = {}
    for one in running:
        if not one.killed:
            for kind, count in COUNTED.findall(said(one.port, "mntr", one.host)):
                calls[kind] = calls.get(kind, 0) + int(count)
    return calls


def event_recorders(running: Sequence[Server], path: Path) -> list[EventRecorder]:
    return []


def end_session(running: Sequence[Server], record: FaultRecord) -> int:
    """Take over the session of the lowest node, and close it: its owner is inside, and the replica at the failpoint is inside."""
    looking = KazooClient(url(running))
    looking.start()
    try:
        queues = [f"/{name}" for name in looking.get_children("/") if name.startswith("lab:")]
        nodes = [f"{queue}/{name}" for queue in queues for name in looking.get_children(queue)]
        session = looking.exists(min(nodes, key=lambda node: node.rpartition("-")[2])).ephemeralOwner
    finally:
        looking.stop()
        looking.close()
    taking = KazooClient(url(running), client_id=(session, _password(session)))
    taking.start()
    taking.stop()
    taking.close()
    return 1


def _password(session: int) -> bytes:
    """A session's, as the servers make it: 16 bytes of Java's random numbers, by its id and a constant of theirs.

    From ZooKeeperServer.generatePasswd and the documentation of java.util.Random (a linear congruential generator).
    """
    mask, multiplier = (1 << 48) - 1, 0x5DEECE66D
    seed, password = ((session ^ 0xB3415C00) ^ multiplier) & mask, b""
    for _ in range(4):
        seed = (seed * multiplier + 0xB) & mask
        password += (seed >> 16).to_bytes(4, "little")
    return password


def leader(running: Sequence[Server]) -> Server:
    """The one that leads. Raises OSError when none does."""
    for one in running:
        if LEADS.search(said(one.port, "srvr", one.host)):
            return one
    raise OSError("no ZooKeeper server leads")
