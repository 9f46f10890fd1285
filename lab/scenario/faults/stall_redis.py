"""Stop the lock's store for a while, with a holder inside, so that it answers late."""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import ALL_NODES, System, Target
from lab.scenario.toml_types import Text


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.STORE_SILENT

    at: Text = "read.before"

    def inject(self, system: System, record: FaultRecord) -> None:
        system.silence_nodes(ALL_NODES)

    def recover(self, system: System, record: FaultRecord) -> None:
        system.recover_nodes(ALL_NODES)
