"""The session at the lock's store of the replica that comes by is ended, with a holder inside; the replica itself goes on."""

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
        struck.sessions_ended = system.end_session(struck)

    def heal(self, system: System, struck: FaultRecord) -> None:
        """Nothing to undo: whoever needs a session begins another."""
