"""A holder's write to the counter is delayed in the network. Its process lives on, and may give the write up meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass
from time import monotonic_ns
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target

READY_MS = 200  # the request waits for so long before it sends its write: the network is ready by then


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.COUNTER
    needs: ClassVar[tuple[Need, ...]] = ()
    effect: ClassVar[Effect] = Effect.WRITE_DELAYED

    # when the write arrives, counted from the failpoint
    for_ms: int
    # when the sender's connection breaks, counted from the failpoint; 0: it does not, and the sender waits for its answer
    breaks_ms: int = 0
    # the failpoint
    at: str = "write.before"
    # how many grants of a replica must have begun to read; at ``write.before`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", READY_MS, self.skip)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.delay_write(record)
        record.injected_ns = monotonic_ns()
        if self.breaks_ms:
            time.sleep(max(0.0, self.breaks_ms / 1000 - (monotonic_ns() - record.at_ns) / 1e9))
            system.break_off_write(record)

    def recover(self, system: System, record: FaultRecord) -> None:
        record.late_writes = system.deliver_write(record)
