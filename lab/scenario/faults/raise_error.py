"""The request fails with an exception at the failpoint. Its thread and its process live on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.REPLICA
    needs: ClassVar[tuple[Need, ...]] = ()
    effect: ClassVar[Effect] = Effect.REQUEST_FAILS

    # the failpoint
    at: str = "read.before"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0
    # the fault is over at once
    for_ms: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "raise", self.for_ms, self.skip)

    def inject(self, system: System, record: FaultRecord) -> None:
        """Do nothing: the replica did it."""

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: nothing is left to undo."""
