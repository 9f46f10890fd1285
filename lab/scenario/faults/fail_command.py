"""One command of a request fails with the error of the store's client, and nothing is sent. The store itself is well."""

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
    effect: ClassVar[Effect] = Effect.COMMAND_FAILS

    # the failpoint: ``before_last`` of a phase, because only there a command is about to be sent
    at: str = "release.before_last"
    # how many grants of a replica must have begun to read
    skip: int = 0
    # the fault is over at once
    for_ms: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "fail", self.for_ms, self.skip)

    def inject(self, system: System, record: FaultRecord) -> None:
        """Do nothing: the replica did it."""

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: nothing is left to undo."""
