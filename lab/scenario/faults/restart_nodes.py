"""Some of the lock's servers are killed while a holder is inside, and come back after a while with what they kept on disk.

away: those that were gone from the beginning and come back now: they never heard of the lock. for_ms: how long the holder
stays inside. delay_ms: how long those that were killed stay away.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from app.failpoints import Injection
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import System


@dataclass(frozen=True)
class Harm:
    for_ms: int
    nodes: tuple[int, ...] = (1,)
    away: tuple[int, ...] = ()
    delay_ms: int = 0
    at: str = "read.after"
    skip: int = 0

    def armed(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip)

    def harm(self, system: System, struck: FaultRecord) -> None:
        system.kill_nodes(self.nodes)
        system.revive_nodes(self.away)
        if not threading.Event().wait(self.delay_ms / 1000):
            system.revive_nodes(self.nodes)

    def heal(self, system: System, struck: FaultRecord) -> None:
        """They are back already."""
