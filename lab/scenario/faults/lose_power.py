"""Cut the power of the lock's store while a holder is inside: it loses the data that was not synced to disk, and starts again."""

import time
from time import monotonic_ns

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import Need, System, Target
from lab.scenario.toml_types import Time


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.POWER_LOST
    needs = (Need.DISK,)

    delay_ms: Time = 0  # how long the holder has been inside when the power goes off

    @property
    def lab_first(self) -> bool:
        """Return whether the holder's stay is counted from when the store runs again, which can take seconds."""
        return self.delay_ms > 0

    def inject(self, system: System, record: FaultRecord) -> None:
        time.sleep(self.delay_ms / 1000)
        record.injected_ns = monotonic_ns()  # the fault begins now, and not when the store runs again
        system.lose_power()
