"""A holder's write to the counter is delayed in the network. Its process lives on, and may give the write up meanwhile."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.COUNTER
    needs: ClassVar[tuple[Need, ...]] = ()
    effect: ClassVar[Effect] = Effect.WRITE_DELAYED

    # when the write arrives, counted from when it is sent
    for_ms: int
    # when the sender's connection breaks, counted from then; 0: it does not, and the sender waits for its answer
    breaks_ms: int = 0
    # the failpoint
    at: str = "write.before"
    # how many grants of a replica must have begun to read; at ``write.before`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", 0, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.delay_write(record)
        if self.breaks_ms:
            timer = threading.Timer(self.breaks_ms / 1000, system.break_off_write, (record,))
            timer.daemon = True
            timer.start()

    def recover(self, system: System, record: FaultRecord) -> None:
        record.late_writes = system.deliver_write(record)
