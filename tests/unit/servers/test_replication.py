"""Test stores of several servers: a primary with a replica, and an ensemble, which is restarted as a whole."""

import threading

import pytest

from app.locks import stage as stage_of
from lab.errors import BadInput
from lab.scenario import reader
from lab.scenario.fault import ALL_NODES
from lab.servers.fault_target import FaultTarget
from lab.servers.stores import refuse


def test_link_needs_a_replica():
    """A fault that holds the replication is refused if the lock's store has no replica."""
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
    """The lab starts all members of an ensemble before it waits for the first."""
    all_start = threading.Barrier(3)
    members = [Member(all_start) for _ in range(3)]
    for member in members:
        member.kill()

    FaultTarget("etcd", members, (), {}).recover_nodes(ALL_NODES)

    assert not any(member.killed for member in members)
