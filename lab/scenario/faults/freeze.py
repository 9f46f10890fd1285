"""Stop the replica at the failpoint (SIGSTOP) until another request is inside, for longer than the TTL; then send SIGCONT."""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import System


class Fault(fault.Fault, frozen=True):
    effect = Effect.PROCESS_STOPS
    action = "stop"
    writes_late = True

    def recover(self, system: System, record: FaultRecord) -> None:
        system.resume_replica(record)
