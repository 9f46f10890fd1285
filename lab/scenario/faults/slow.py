"""Work that takes longer than planned, once."""

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
        """Nothing to do: the replica did it."""

    def heal(self, system: System, struck: FaultRecord) -> None:
        """Nothing to undo."""
