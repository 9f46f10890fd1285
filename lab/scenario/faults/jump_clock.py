"""The clocks of some of the lock's servers jump ahead while a holder is inside. They go back at the recovery."""

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
    needs: ClassVar[tuple[Need, ...]] = (Need.CLOCKS,)
    effect: ClassVar[Effect] = Effect.CLOCKS_JUMP

    # how long the fault lasts, and how long the request waits at the failpoint
    for_ms: int
    # how far the clocks jump ahead
    by_ms: int = 60_000
    # the servers of the lock's store, counted from 1
    nodes: tuple[int, ...] = (1,)
    # the failpoint
    at: str = "read.after"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        record.votes = system.votes()
        record.clocks_moved = system.jump_clocks(self.nodes, self.by_ms)

    def recover(self, system: System, record: FaultRecord) -> None:
        system.jump_clocks(self.nodes, 0)
