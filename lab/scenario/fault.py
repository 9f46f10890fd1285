"""A fault: a harm with parameters. Arming it puts a gate before the replicas; being struck does the harm; healing undoes it.

``lab/scenario/faults`` holds one a file, a dataclass ``Harm`` whose fields are its TOML keys. A fault is always healed, whatever
happens, and writes down whom it hit and when (``faults.jsonl``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.failpoints import MOMENTS, PHASES, Injection
from lab.evidence.fault_record import FaultRecord

GATES = tuple(f"{phase}.{moment}" for phase in PHASES for moment in MOMENTS)


class System(Protocol):
    """What a fault may lay hands on."""

    def thaw(self, struck: FaultRecord) -> None:
        """Let the struck process go on."""

    def stop_lock_store(self) -> None:
        """Stop the lock's store where it is."""

    def thaw_lock_store(self) -> None:
        """Let it go on."""

    def restart_lock_store(self) -> None:
        """Kill it and start it again at its address, with what it kept on disk."""

    def kill_nodes(self, nodes: Sequence[int]) -> None:
        """Kill some of the lock store's servers, counted from 1; those that are not there are left out."""

    def silence_nodes(self, nodes: Sequence[int]) -> None:
        """Stop them where they are: they take what they are sent, and answer nothing."""

    def jump_clocks(self, nodes: Sequence[int], by_ms: int) -> int:
        """Set their clocks off by so much; how many were seen to move."""

    def revive_nodes(self, nodes: Sequence[int]) -> None:
        """Let them go on, or start them again with what they kept on disk."""

    def cut_off(self, struck: FaultRecord) -> None:
        """Let nothing through between the struck replica and the lock's store."""

    def connect_again(self, struck: FaultRecord) -> None:
        """Let it through again."""

    def kill_lock_leader(self) -> None:
        """Kill the server that leads the lock's store; it does not come back."""

    def end_session(self, struck: FaultRecord) -> int:
        """Have the lock's store end the sessions of the struck replica; how many."""


class Fault(Protocol):
    """One harm. at: the gate where it strikes. skip: how many grants of a replica pass before."""

    @property
    def at(self) -> str: ...

    @property
    def for_ms(self) -> int: ...

    def armed(self, name: str) -> Injection:
        """What a replica is to do when it comes by the gate."""

    def harm(self, system: System, struck: FaultRecord) -> None:
        """What the lab does when it has: called once, soon after. The harm is over for_ms later."""

    def heal(self, system: System, struck: FaultRecord) -> None:
        """Undo it; may be called when nothing is left to undo."""


def kind_of(fault: Fault) -> str:
    """The file it is in."""
    return type(fault).__module__.rpartition(".")[2]
