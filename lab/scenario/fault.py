"""A fault: something that a run breaks on purpose, as data. A scenario's TOML file states its kind and its parameters.

``lab/scenario/faults`` holds one kind in each file: a frozen dataclass ``Fault``, whose fields are its TOML keys. The class
declares what the fault needs and where it acts. From these declarations alone follows where it can be injected: on servers
of the lab's own, on a store of somebody else, in containers (``lab/scenario/fault_place.py``).

A replica reaches the failpoint, leaves a note and does its own part. The injector (``lab/run/fault_injector.py``) sees the
note, injects the lab's part, recovers, and writes a fault record. With ``lab_first``, the request waits for the lab's part.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar, Protocol

from app.failpoints import MOMENTS, PHASES, Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord

FAILPOINTS = tuple(f"{phase}.{moment}" for phase in PHASES for moment in MOMENTS)


class Target(StrEnum):
    """What a fault acts on."""

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
    """What the lock's store must have for a fault. The values complete the sentence: the fault needs …"""

    LEADER = "a server that leads the others"
    SESSIONS = "sessions of each replica that can be ended"
    CLOCKS = "servers whose clocks can be set"
    DISK = "servers whose files can be cut to what was synced"
    REPLICA = "a replica, and a link to it that the lab can hold"


class System(Protocol):
    """What a fault can do to a running system. Nodes are servers of the lock's store, counted from 1; others are ignored."""

    def resume_replica(self, record: FaultRecord) -> None:
        """Resume the stopped process of the replica; do nothing if it has ended."""

    def pause_lock_store(self) -> None:
        """Stop all servers of the lock's store: they accept commands, and answer none."""

    def resume_lock_store(self) -> None:
        """Resume all servers of the lock's store."""

    def restart_lock_store(self) -> None:
        """Kill all servers of the lock's store, and start them again with what they kept on disk."""

    def lose_power(self) -> None:
        """Kill all servers of the lock's store, drop what they had not synced to disk, and start them again."""

    def kill_nodes(self, nodes: Sequence[int]) -> None:
        """Kill some servers of the lock's store."""

    def silence_nodes(self, nodes: Sequence[int]) -> None:
        """Stop some servers of the lock's store: they accept commands, and answer none."""

    def recover_nodes(self, nodes: Sequence[int]) -> None:
        """Resume silent servers, and start killed servers again with what they kept on disk."""

    def votes(self) -> int:
        """Return how many servers have the same lock, as votes for one holder; 0 where the store's servers do not vote."""

    def jump_clocks(self, nodes: Sequence[int], by_ms: int) -> int:
        """Set the clocks of some servers ahead of real time, below zero behind it. Return how many clocks moved."""

    def speed_up_clocks(self, nodes: Sequence[int], times: int) -> int:
        """Let the clocks of some servers run so many times as fast as real time. Return how many clocks do."""

    def slow_down_clocks(self, nodes: Sequence[int]) -> None:
        """Let the clocks of some servers run as fast as real time again, from where they are."""

    def cut_off(self, record: FaultRecord) -> None:
        """Let nothing through between the replica and the lock's store."""

    def reconnect(self, record: FaultRecord) -> None:
        """Let everything through again."""

    def delay_write(self, record: FaultRecord) -> None:
        """Delay the next write of the replica to the counter, in the network, until ``deliver_write``."""

    def break_off_write(self, record: FaultRecord) -> None:
        """Break the connection on which the sender waits for the answer to the delayed write."""

    def deliver_write(self, record: FaultRecord) -> int:
        """Let the delayed write arrive. Return how many writes arrived late: one, or none if none was sent."""

    def hold_replication(self) -> None:
        """Let the replicas of the lock's store receive nothing more. They have everything until this moment."""

    def split(self, record: FaultRecord) -> None:
        """Cut the primary off from everybody but the present connections of the replica's process, for good.

        That process cannot reach the Sentinel either. So it stays with the old primary, and all others find the new one.
        """

    def kill_lock_leader(self) -> None:
        """Kill the server that leads the lock's store, for good."""

    def end_sessions(self, record: FaultRecord) -> int:
        """Let the lock's store end the sessions of the replica. Return how many it ended."""


class Fault(Protocol):
    """One fault of a scenario. The class attributes are the same for each fault of the kind; the fields are TOML keys.

    The types and defaults of the fields are the limits of the keys: a number may be zero, and a list empty, only where its
    default is (``check_parameters`` of ``toml_types.py``).
    """

    # what the fault acts on
    target: ClassVar[Target]
    # what the lock's store must have
    needs: ClassVar[tuple[Need, ...]]
    # what the fault does, in the judge's words; written into the fault record
    effect: ClassVar[Effect]

    @property
    def at(self) -> str:
        """The failpoint, ``phase.moment``."""

    @property
    def skip(self) -> int:
        """How many grants of a replica must have begun to read before the fault is injected; see ``app.failpoints``."""

    @property
    def for_ms(self) -> int:
        """How long the fault lasts, until the recovery: from the failpoint, or with ``lab_first`` from the lab's part."""

    def injection(self, name: str) -> Injection:
        """Return what the replica does at the failpoint."""

    def inject(self, system: System, record: FaultRecord) -> None:
        """Do the lab's part. The injector calls it once, as soon as it sees the replica's note."""

    def recover(self, system: System, record: FaultRecord) -> None:
        """Undo it. The injector calls it once, also when a run is cut short or nothing is left to undo."""


DECLARED = ("target", "needs", "effect")  # what each class on the shelf must state


def kind_of(fault: Fault) -> str:
    """Return the name of the fault's file."""
    return type(fault).__module__.rpartition(".")[2]
