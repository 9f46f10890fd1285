"""Servers of the lock's store die while a holder is inside, for good. Their replicas may take their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.STORE
    needs: ClassVar[tuple[Need, ...]] = ()
    effect: ClassVar[Effect] = Effect.PRIMARY_DIES

    # how long the holder stays inside
    for_ms: int
    # the servers of the lock's store, counted from 1
    nodes: tuple[int, ...] = (1,)
    # servers that were stopped from the beginning of the run, and start before the others die: they never knew the lock
    away: tuple[int, ...] = ()
    # the failpoint
    at: str = "read.after"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.recover_nodes(self.away)
        system.kill_nodes(self.nodes)

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: the run ends without the servers."""
