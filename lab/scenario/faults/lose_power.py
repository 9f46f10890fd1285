"""The machine of the lock's store loses power while a holder is inside: what was not synced to disk is gone. It starts again."""

from __future__ import annotations

import time
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
    needs: ClassVar[tuple[Need, ...]] = (Need.DISK,)
    effect: ClassVar[Effect] = Effect.POWER_LOST

    # how long the holder stays inside: from the failpoint; with a delay from when the store runs again, which can take seconds
    for_ms: int
    # how long the holder has been inside when the power is lost
    delay_ms: int = 0
    # the failpoint
    at: str = "read.after"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", self.for_ms, self.skip, lab_first=self.delay_ms > 0)

    def inject(self, system: System, record: FaultRecord) -> None:
        time.sleep(self.delay_ms / 1000)
        record.injected_ns = monotonic_ns()  # not when the store runs again
        system.lose_power()

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: nothing is left to undo."""
