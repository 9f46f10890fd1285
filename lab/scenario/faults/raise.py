"""An exception where nobody catches it: the documents' code has no finally."""

from __future__ import annotations

from dataclasses import dataclass

from app.failpoints import Injection
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import System


@dataclass(frozen=True)
class Harm:
    at: str = "read.before"
    skip: int = 0
    for_ms: int = 0

    def armed(self, name: str) -> Injection:
        return Injection(name, self.at, "raise", self.for_ms, self.skip)

    def harm(self, system: System, struck: FaultRecord) -> None:
        """Nothing to do: the replica did it."""

    def heal(self, system: System, struck: FaultRecord) -> None:
        """Nothing to undo."""
