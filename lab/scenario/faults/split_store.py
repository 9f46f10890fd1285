"""Cut off the primary of the lock's store with the clients in one replica. For all other clients a standby takes its place.

The store stays split until the run is over; ``for_ms`` is how long the lab watches the split.
"""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import Need, System, Target


class Fault(fault.Fault, frozen=True):
    target = Target.NETWORK
    effect = Effect.STORE_SPLIT
    needs = (Need.REPLICA,)
    stays = False

    def inject(self, system: System, record: FaultRecord) -> None:
        system.split(record)
