"""Kill the primary of the lock's store while a holder is inside. It is not started again; a replica may take its place."""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import System, Target


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.PRIMARY_DIES

    def inject(self, system: System, record: FaultRecord) -> None:
        system.kill_nodes((1,))
