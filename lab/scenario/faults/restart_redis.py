"""The lock's store is killed while a holder is inside, and is started again with what it kept on disk."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic_ns
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.STORE
    needs: ClassVar[tuple[Need, ...]] = ()
    effect: ClassVar[Effect] = Effect.STORE_RESTARTS

    # how long the holder stays inside
    for_ms: int
    # the failpoint
    at: str = "read.before"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        record.injected_ns = monotonic_ns()  # not when the store runs again
        system.restart_lock_store()

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: nothing is left to undo."""
