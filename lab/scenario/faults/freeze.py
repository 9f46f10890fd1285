"""SIGSTOP of the replica that reaches the failpoint, for longer than the TTL, until another request is inside; then SIGCONT."""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import System, Target


class Fault(fault.Fault, frozen=True):
    target = Target.REPLICA
    effect = Effect.PROCESS_STOPS
    action = "stop"
    writes_late = True

    def recover(self, system: System, record: FaultRecord) -> None:
        system.resume_replica(record)
