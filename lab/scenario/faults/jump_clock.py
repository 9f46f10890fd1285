"""The clocks of some of the lock's servers leap ahead while a holder is inside; they go back when it is over."""

from __future__ import annotations

from dataclasses import dataclass

from app.failpoints import Injection
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import System


@dataclass(frozen=True)
class Harm:
    for_ms: int
    by_ms: int = 60_000
    nodes: tuple[int, ...] = (1,)
    at: str = "read.after"
    skip: int = 0

    def armed(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip)

    def harm(self, system: System, struck: FaultRecord) -> None:
        struck.clocks_moved = system.jump_clocks(self.nodes, self.by_ms)

    def heal(self, system: System, struck: FaultRecord) -> None:
        system.jump_clocks(self.nodes, 0)
