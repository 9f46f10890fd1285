"""Some of the lock's servers die, and come back for_ms later with what they kept on disk."""

from __future__ import annotations

from dataclasses import dataclass

from app.failpoints import Injection
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import System


@dataclass(frozen=True)
class Harm:
    for_ms: int
    nodes: tuple[int, ...] = (1,)
    at: str = "acquire.before"
    skip: int = 0

    def armed(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", 0, self.skip)

    def harm(self, system: System, struck: FaultRecord) -> None:
        system.kill_nodes(self.nodes)

    def heal(self, system: System, struck: FaultRecord) -> None:
        system.revive_nodes(self.nodes)
