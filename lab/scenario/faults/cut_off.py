"""The holder's replica and the lock's store cannot reach each other for a while. Both go on, and so do the other replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.NETWORK
    needs: ClassVar[tuple[Need, ...]] = ()
    effect: ClassVar[Effect] = Effect.CUT_OFF

    # how long the fault lasts, and how long the request waits at the failpoint
    for_ms: int
    # the failpoint
    at: str = "read.after"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.cut_off(record)

    def recover(self, system: System, record: FaultRecord) -> None:
        system.reconnect(record)
