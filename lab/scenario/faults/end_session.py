"""End the sessions of the holder's replica at the lock's store. The replica itself continues to run.

Nothing is undone: a replica that needs a session begins another.
"""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import Need, System, Target


class Fault(fault.Fault, frozen=True):
    target = Target.SESSION
    effect = Effect.SESSION_ENDS
    needs = (Need.SESSIONS,)

    def inject(self, system: System, record: FaultRecord) -> None:
        record.sessions_ended = system.end_sessions(record)
