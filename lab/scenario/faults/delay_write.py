"""Delay a holder's write to the counter in the network. Its process lives on, and may give the write up meanwhile.

The write arrives ``for_ms`` after it was sent.
"""

import threading

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import System, Target
from lab.scenario.toml_types import Text, Time


class Fault(fault.Fault, frozen=True):
    target = Target.COUNTER
    effect = Effect.WRITE_DELAYED
    stays = False

    at: Text = "write.before"
    # time from the write's sending until the sender's connection breaks; 0: never, and the sender waits for its answer
    breaks_ms: Time = 0

    def inject(self, system: System, record: FaultRecord) -> None:
        system.delay_write(record)
        if self.breaks_ms:
            timer = threading.Timer(self.breaks_ms / 1000, system.break_off_write, (record,))
            timer.daemon = True
            timer.start()

    def recover(self, system: System, record: FaultRecord) -> None:
        record.late_writes = system.deliver_write(record)
