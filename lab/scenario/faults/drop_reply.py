"""The store carries a command out, and the client gets an error in place of the reply. It sends nothing again."""

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
    effect: ClassVar[Effect] = Effect.REPLY_DROPPED

    # the failpoint: ``after_first`` of a phase, because only there an answer has just come
    at: str = "release.after_first"
    # how many grants of a replica must have begun to read
    skip: int = 0
    # the fault is over at once
    for_ms: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "drop_reply", self.for_ms, self.skip)

    def inject(self, system: System, record: FaultRecord) -> None:
        """Do nothing: the replica did it."""

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: nothing is left to undo."""
