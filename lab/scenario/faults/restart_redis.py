"""The lock's store is killed and comes back, with what it kept on disk, while a holder is inside."""

from __future__ import annotations

from dataclasses import dataclass

from app.failpoints import Injection
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import System


@dataclass(frozen=True)
class Harm:
    for_ms: int
    at: str = "read.before"
    skip: int = 0

    def armed(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip)

    def harm(self, system: System, struck: FaultRecord) -> None:
        system.restart_lock_store()

    def heal(self, system: System, struck: FaultRecord) -> None:
        """Nothing to undo."""
