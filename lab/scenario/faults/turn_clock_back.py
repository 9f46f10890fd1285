"""Set the clocks of some of the lock's servers back while a holder is inside. They are right again at the recovery."""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import Need, System, Target
from lab.scenario.toml_types import Duration, SomeNodes, Text


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.CLOCKS_BACK
    needs = (Need.CLOCKS,)
    stays = False

    at: Text = "read.before"
    nodes: SomeNodes = (1,)  # the servers of the lock's store, counted from 1
    by_ms: Duration = 60_000  # how far the clocks jump back

    def inject(self, system: System, record: FaultRecord) -> None:
        record.clocks_moved = system.jump_clocks(self.nodes, -self.by_ms)

    def recover(self, system: System, record: FaultRecord) -> None:
        system.jump_clocks(self.nodes, 0)
