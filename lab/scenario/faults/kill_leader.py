"""Kill the leader of the lock's store while a holder is inside. It is not started again; the other servers elect a leader."""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import Need, System, Target


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.LEADER_DIES
    needs = (Need.LEADER,)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.kill_lock_leader()
