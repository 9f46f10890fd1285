"""Cut the holder's replica off from the lock's store for a while. Both still run, and so do all other replicas."""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import System, Target


class Fault(fault.Fault, frozen=True):
    target = Target.NETWORK
    effect = Effect.CUT_OFF

    def inject(self, system: System, record: FaultRecord) -> None:
        system.cut_off(record)

    def recover(self, system: System, record: FaultRecord) -> None:
        system.reconnect(record)
