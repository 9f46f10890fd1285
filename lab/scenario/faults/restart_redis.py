"""Kill the lock's store while a holder is inside, and start it again with its data on disk."""

from time import monotonic_ns

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import ALL_NODES, System, Target
from lab.scenario.toml_types import Text


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.STORE_RESTARTS

    at: Text = "read.before"

    def inject(self, system: System, record: FaultRecord) -> None:
        record.injected_ns = monotonic_ns()  # the fault begins now, and not when the store runs again
        system.kill_nodes(ALL_NODES)
        system.recover_nodes(ALL_NODES)
