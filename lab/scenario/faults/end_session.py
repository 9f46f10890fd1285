"""The lock's store ends the sessions of the holder's replica. The replica itself goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.SESSION
    needs: ClassVar[tuple[Need, ...]] = (Need.SESSIONS,)
    effect: ClassVar[Effect] = Effect.SESSION_ENDS

    # how long the holder stays inside
    for_ms: int
    # the failpoint
    at: str = "read.after"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        record.sessions_ended = system.end_sessions(record)

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: a replica that needs a session begins another."""
