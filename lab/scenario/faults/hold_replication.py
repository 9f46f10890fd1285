"""From now on, the replica of the lock's store receives nothing from its primary. It has everything until this moment."""

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
    needs: ClassVar[tuple[Need, ...]] = (Need.REPLICA,)
    effect: ClassVar[Effect] = Effect.REPLICA_LAGS

    # how long the request waits at the failpoint; the replica receives nothing until the run is over
    for_ms: int
    # the failpoint
    at: str = "acquire.before"
    # how many grants of a replica must have begun to read; at ``acquire.before``, 3 means the fourth grant
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.hold_replication()

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: the replica stays behind."""
