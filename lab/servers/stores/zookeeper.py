"""ZooKeeper: an ensemble, or one server if the scenario asks for one. No events of its nodes are recorded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kazoo.client import KazooClient

from lab.evidence.fault_record import FaultRecord
from lab.scenario.scenario import Scenario
from lab.servers.ports import free_port
from lab.servers.process import ServerProgram
from lab.servers.programs.zookeeper import ShiftedZooKeeper, ZooKeeperServer, four_letter
from lab.servers.server import Server
from lab.servers.store import addresses

# the server counts only two kinds: reads (heartbeats among them) and updates
COUNTED = re.compile(r"^zk_cnt_(read|update)latency\t(\d+)", re.MULTILINE)
LEADS = re.compile(r"^Mode: (leader|standalone)$", re.MULTILINE)
url = addresses


def programs(scenario: Scenario) -> list[ServerProgram]:
    kind = ShiftedZooKeeper if scenario.store_clocks else ZooKeeperServer
    if scenario.store_nodes == 1:
        return [kind("lock-zookeeper")]
    numbers = range(1, scenario.store_nodes + 1)
    peers = {number: (free_port(), free_port()) for number in numbers}
    return [kind(f"lock-zookeeper-{number}", number, peers) for number in numbers]


def commands(running: Sequence[Server]) -> dict[str, int]:
    calls: dict[str, int] = {}
    for one in running:
        if not one.killed:
            for kind, count in COUNTED.findall(four_letter(one.port, "mntr", one.host)):
                calls[kind] = calls.get(kind, 0) + int(count)
    return calls


def end_session(running: Sequence[Server], record: FaultRecord) -> int:
    """Take over the session of the lowest node, which belongs to the current holder, and close it."""
    looking = KazooClient(url(running))
    looking.start()
    try:
        queues = [f"/{name}" for name in looking.get_children("/") if name.startswith("lab:")]
        nodes = [f"{queue}/{name}" for queue in queues for name in looking.get_children(queue)]
        session = looking.exists(min(nodes, key=lambda node: node.rpartition("-")[2])).ephemeralOwner
    finally:
        looking.stop()
        looking.close()
    _close(running, session)
    return 1


def _close(running: Sequence[Server], session: int) -> None:
    """Take a session over, and close it."""
    taking = KazooClient(url(running), client_id=(session, _password(session)))
    try:
        taking.start()
    finally:
        taking.stop()
        taking.close()


def _password(session: int) -> bytes:
    """Return a session's password, as the servers compute it: 16 bytes of Java's random numbers.

    The seed is the session's id, combined with a constant of ZooKeeper. From
    ZooKeeperServer.generatePasswd and the documentation of java.util.Random (a linear congruential
    generator).
    """
    mask, multiplier = (1 << 48) - 1, 0x5DEECE66D
    seed, password = ((session ^ 0xB3415C00) ^ multiplier) & mask, b""
    for _ in range(4):
        seed = (seed * multiplier + 0xB) & mask
        password += (seed >> 16).to_bytes(4, "little")
    return password


def leader(running: Sequence[Server]) -> Server:
    """Return the server that leads. Raises OSError when there is none."""
    for one in running:
        if LEADS.search(four_letter(one.port, "srvr", one.host)):
            return one
    raise OSError("no ZooKeeper server leads")
