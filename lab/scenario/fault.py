"""Define a fault: something that a run breaks on purpose, as data. A scenario's TOML file names its kind and its parameters.

``lab/scenario/faults`` holds one kind in each file: a class ``Fault``, which adds its own TOML keys and the lab's part to the
base class below. The class declares the needs and the target of the fault. These declarations alone decide whether it can be
injected on processes of the lab, or in containers (``Place`` below).

A replica reaches the failpoint, leaves a note and does its own part. The injector (``lab/run/fault_injector.py``) sees the note,
injects the lab's part, recovers, and writes a fault record. With ``lab_first``, the request waits for the lab's part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Protocol

import msgspec

from app.failpoints import MOMENTS, PHASES, Injection
from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario.toml_types import MOST_SERVERS, Duration, Number, Text, Time

FAILPOINTS = tuple(f"{phase}.{moment}" for phase in PHASES for moment in MOMENTS)
ALL_NODES = tuple(range(1, MOST_SERVERS + 1))  # every server of the lock's store, however many it has


class Target(StrEnum):
    """Name the thing that a fault acts on."""

    # a replica injects the fault into itself; the lab at most resumes its process
    REPLICA = "replica"
    # the lab sends a command to the lock's store, which ends sessions
    SESSION = "session"
    # the lab interrupts the connections from one replica to the lock's store
    NETWORK = "network"
    # the lab delays a write on its way from one replica to the counter
    COUNTER = "counter"
    # the lab stops, kills or changes servers of the lock's store
    STORE = "store"


class Need(StrEnum):
    """Name a property that the lock's store must have for a fault. The values complete the sentence: the fault needs …"""

    LEADER = "a server that leads the others"
    SESSIONS = "sessions of each replica that can be ended"
    CLOCKS = "servers whose clocks can be set"
    DISK = "servers whose files can be cut to what was synced"
    REPLICA = "a replica, and a link to it that the lab can hold"


class System(Protocol):
    """The effects of faults on a running system. Nodes are servers of the lock's store, counted from 1; others are ignored."""

    def resume_replica(self, record: FaultRecord) -> None:
        """Resume the stopped process of the replica; do nothing if it has ended."""

    def lose_power(self) -> None:
        """Kill all servers of the lock's store, drop the data that they had not synced to disk, and start them again."""

    def kill_nodes(self, nodes: Sequence[int]) -> None:
        """Kill some servers of the lock's store."""

    def silence_nodes(self, nodes: Sequence[int]) -> None:
        """Stop some servers of the lock's store: they accept commands, and answer none."""

    def recover_nodes(self, nodes: Sequence[int]) -> None:
        """Resume silent servers, and start killed servers again with their data on disk."""

    def jump_clocks(self, nodes: Sequence[int], by_ms: int) -> int:
        """Set the clocks of some servers ahead of real time, or behind it (below zero). Return how many clocks moved."""

    def cut_off(self, record: FaultRecord) -> None:
        """Let no data through between the replica and the lock's store."""

    def reconnect(self, record: FaultRecord) -> None:
        """Let all data through again."""

    def delay_write(self, record: FaultRecord) -> None:
        """Delay the next write of the replica to the counter, in the network, until ``deliver_write``."""

    def break_off_write(self, record: FaultRecord) -> None:
        """Break the connection on which the sender waits for the answer to the delayed write."""

    def deliver_write(self, record: FaultRecord) -> int:
        """Let the delayed write arrive. Return how many writes arrived late: one, or none if none was sent."""

    def hold_replication(self) -> None:
        """Stop replication: the replicas of the lock's store have everything until now, and receive nothing more."""

    def split(self, record: FaultRecord) -> None:
        """Cut the primary off until the end of the run, except from the present connections of the replica's process.

        That process cannot reach the Sentinel either. So it stays with the old primary, and all other replicas find the new one.
        """

    def kill_lock_leader(self) -> None:
        """Kill the server that leads the lock's store. It is not started again."""

    def end_sessions(self, record: FaultRecord) -> int:
        """Let the lock's store end the sessions of the replica. Return how many it ended."""


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One fault of a scenario. Class variables are the same for all faults of a kind; fields are TOML keys."""

    # the thing that the fault acts on
    target: ClassVar[Target] = Target.REPLICA
    # the effect of the fault, in the judge's terms; written into the fault record
    effect: ClassVar[Effect]
    # the properties that the lock's store must have
    needs: ClassVar[tuple[Need, ...]] = ()
    # the action of the replica at the failpoint, a key of ``app.failpoints.injection.ACTIONS``
    action: ClassVar[str] = "wait"
    # whether the request stays at the failpoint for ``for_ms``; if not, it stays until the lab has done its part
    stays: ClassVar[bool] = True
    # whether the request writes late because of the fault; ``app.failpoints.injection.Gate`` says until when the write waits
    writes_late: ClassVar[bool] = False
    # how long the fault lasts until the recovery, counted from the failpoint, or with ``lab_first`` from the lab's part
    for_ms: Duration
    # the failpoint, ``phase.moment``
    at: Text = "read.after"
    # how many grants of a replica must have begun to read; ``app.failpoints.Injection`` says whether the present one counts
    skip: Number = 0

    @property
    def lab_first(self) -> bool:
        """Return whether the request waits for the lab's part before it stays, or continues."""
        return self.target is not Target.REPLICA

    @property
    def awaits_grant(self) -> bool:
        """Return whether it may stay longer than ``for_ms``: until another request has the lock, at most two seconds more."""
        return False

    def injection(self, name: str) -> Injection:
        """Return the file's content for the replica, which reads it and acts at the failpoint. name: the name of the fault."""
        for_ms = self.for_ms if self.stays else 0
        return Injection(name, self.at, self.action, for_ms, self.skip, self.lab_first, self.writes_late, self.awaits_grant)

    def inject(self, system: System, record: FaultRecord) -> None:
        """Do the lab's part, if there is one. The injector calls it once, when it sees the replica's note."""

    def recover(self, system: System, record: FaultRecord) -> None:
        """Undo the lab's part, if needed. The injector calls it once, even if the run is cut short."""


class AtOnce(Fault, frozen=True):
    """A fault that is over at once."""

    for_ms: Time = 0


def kind_of(fault: Fault) -> str:
    """Return the name of the fault's file."""
    return type(fault).__module__.rpartition(".")[2]


@dataclass(frozen=True)
class Place:
    """The faults that the servers of a run do not allow. An empty place allows every fault.

    A place lists targets and needs, but no faults. So a new fault works, or is refused by name, without a line anywhere else.
    """

    # targets that no fault can reach here, each with the reason
    closed: Mapping[Target, str] = field(default_factory=dict)
    # properties that the lock's store does not have here, each with the reason
    lacking: Mapping[Need, str] = field(default_factory=dict)

    def refusals(self, faults: Iterable[Fault]) -> dict[str, str]:
        """Return the faults that cannot be injected here: by the name of its file, the reason as a half sentence."""
        found = {kind_of(fault): self._against(fault) for fault in faults}
        return {kind: why for kind, why in found.items() if why}

    def _against(self, fault: Fault) -> str:
        """Return the first reason against a fault; empty if there is none."""
        if fault.target in self.closed:
            return f"its target is the {fault.target}, and {self.closed[fault.target]}"
        return next((f"it needs {need}, and {self.lacking[need]}" for need in fault.needs if need in self.lacking), "")
