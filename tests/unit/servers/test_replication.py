"""Stores of several servers: primaries with replicas, and ensembles, which are restarted as a whole."""

import threading
from types import SimpleNamespace

import pytest

from app.locks import stage as stage_of
from lab.errors import BadInput
from lab.scenario import reader
from lab.scenario.fault import ALL_NODES
from lab.servers import replication_link
from lab.servers.fault_target import FaultTarget
from lab.servers.replication_link import ReplicationLink
from lab.servers.stores import refuse


def server(name: str, port: int):
    return SimpleNamespace(name=name, port=port, host="127.0.0.1", address=f"127.0.0.1:{port}")


class FakeProxy:
    """A proxy that notes when it was held."""

    def __init__(self, offsets: dict[int, int]) -> None:
        self.offsets = offsets
        self.held_at: list[int] = []

    def hold(self) -> None:
        self.held_at.append(self.offsets[2])


def test_link_is_held_when_the_replica_has_caught_up(monkeypatch):
    """The replica has everything until the moment at which its link is held."""
    offsets = {1: 90, 2: 30}

    def info(port: int, section: str, host: str) -> dict[str, int]:
        offsets[2] += 20 if port == 2 else 0
        return {"master_repl_offset": offsets[1], "slave_repl_offset": offsets[2]}

    monkeypatch.setattr(replication_link, "info", info)
    proxy = FakeProxy(offsets)

    ReplicationLink(server("primary", 1), server("replica", 2), proxy).hold()

    assert proxy.held_at == [90]


def test_link_needs_a_replica():
    """A fault that holds the link is refused where the lock's store has no replica."""
    held = reader.load("failover_last_grant")

    refuse(stage_of("fencing"), held)
    with pytest.raises(BadInput, match=r"hold_replication.*needs a replica"):
        refuse(stage_of("etcd_fenced"), held)


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


def test_members_start_together():
    """All members of an ensemble are started before the first is waited for."""
    all_start = threading.Barrier(3)
    members = [Member(all_start) for _ in range(3)]
    for member in members:
        member.kill()

    FaultTarget("etcd", members, (), {}).recover_nodes(ALL_NODES)

    assert not any(member.killed for member in members)
