"""Servers of the lock's store die while a holder is inside, for good. Their replicas may take their places."""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import System, Target
from lab.scenario.toml_types import Nodes, SomeNodes


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.PRIMARY_DIES

    nodes: SomeNodes = (1,)  # the servers of the lock's store, counted from 1
    # servers that were stopped from the beginning of the run, and start before the others die: they never knew the lock
    away: Nodes = ()

    def inject(self, system: System, record: FaultRecord) -> None:
        system.recover_nodes(self.away)
        system.kill_nodes(self.nodes)
