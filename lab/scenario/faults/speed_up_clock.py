"""The clocks of some of the lock's servers run too fast while a holder is inside. In the end they slow down, and stay ahead."""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import Need, System, Target
from lab.scenario.toml_types import Factor, SomeNodes


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.CLOCKS_FAST
    needs = (Need.CLOCKS,)

    nodes: SomeNodes = (1,)  # the servers of the lock's store, counted from 1
    times: Factor = 10  # how many times as fast as real time the clocks run

    def inject(self, system: System, record: FaultRecord) -> None:
        record.clocks_moved = system.speed_up_clocks(self.nodes, self.times)

    def recover(self, system: System, record: FaultRecord) -> None:
        system.slow_down_clocks(self.nodes)
