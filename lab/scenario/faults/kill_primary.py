"""The first of the lock's servers dies while a holder is inside, and does not come back; another may take its place.

for_ms: how long the holder stays inside.
"""

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
        system.kill_nodes([1])

    def heal(self, system: System, struck: FaultRecord) -> None:
        """Dead is dead: the run ends without it."""
