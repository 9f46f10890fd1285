"""The holder's thread hangs: no exception, no release, and its process lives on. When the hang is over, the request fails."""

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
    effect: ClassVar[Effect] = Effect.REQUEST_HANGS

    # how long the request hangs: for longer than all other requests of the run need
    for_ms: int
    # the failpoint
    at: str = "read.after"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "hang", self.for_ms, self.skip)

    def inject(self, system: System, record: FaultRecord) -> None:
        """Do nothing: the replica did it."""

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: nothing is left to undo."""
