"""The holder's replica and the lock's store cannot reach each other for a while; both go on, and so does everybody else."""

from __future__ import annotations

from dataclasses import dataclass

from app.failpoints import Injection
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import System


@dataclass(frozen=True)
class Harm:
    for_ms: int
    at: str = "read.after"
    skip: int = 0

    def armed(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip)

    def harm(self, system: System, struck: FaultRecord) -> None:
        system.cut_off(struck)

    def heal(self, system: System, struck: FaultRecord) -> None:
        system.connect_again(struck)
