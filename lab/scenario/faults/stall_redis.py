"""The lock's store is stopped for a while, with a holder inside, and answers late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.STORE
    needs: ClassVar[tuple[Need, ...]] = ()
    effect: ClassVar[Effect] = Effect.STORE_SILENT

    # how long the fault lasts, and how long the request waits at the failpoint
    for_ms: int
    # the failpoint
    at: str = "read.before"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.pause_lock_store()

    def recover(self, system: System, record: FaultRecord) -> None:
        system.resume_lock_store()
