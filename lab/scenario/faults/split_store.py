"""The primary of the lock's store is cut off, with the clients in one replica. For the others a standby takes its place."""

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
    needs: ClassVar[tuple[Need, ...]] = (Need.REPLICA,)
    effect: ClassVar[Effect] = Effect.STORE_SPLIT

    # how long the fault is looked at; the store stays split until the run is over
    for_ms: int
    # the failpoint
    at: str = "read.after"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", 0, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.split(record)

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: the run ends with two primaries."""
