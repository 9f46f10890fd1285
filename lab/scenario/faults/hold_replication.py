"""Keep a replica of the lock's store from receiving anything more from its primary. It has everything until this moment.

The replica stays behind until the run is over; ``for_ms`` is how long the request waits at the failpoint.
"""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import Need, System, Target
from lab.scenario.toml_types import Text


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.REPLICA_LAGS
    needs = (Need.REPLICA,)

    at: Text = "acquire.before"

    def inject(self, system: System, record: FaultRecord) -> None:
        system.hold_replication()
