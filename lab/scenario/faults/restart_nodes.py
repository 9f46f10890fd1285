"""Kill some of the lock's servers while a holder is inside, and start them again with their data on disk."""

import time
from time import monotonic_ns

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import System, Target
from lab.scenario.toml_types import Nodes, SomeNodes, Time


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.SERVERS_RESTART

    nodes: SomeNodes = (1,)  # the servers of the lock's store, counted from 1
    away: Nodes = ()  # servers that were stopped from the beginning of the run, and start now: they never knew the lock
    delay_ms: Time = 0  # how long the killed servers stay stopped

    @property
    def lab_first(self) -> bool:
        """Return whether the stay begins when the servers run again; with a delay they return after the stay."""
        return not self.delay_ms

    @property
    def awaits_grant(self) -> bool:
        """Return whether another request may get the lock: a server that returns without its data can vote again."""
        return not self.delay_ms

    def inject(self, system: System, record: FaultRecord) -> None:
        system.kill_nodes(self.nodes)
        record.injected_ns = monotonic_ns()  # the fault begins now: the servers are down
        system.recover_nodes(self.away)
        time.sleep(self.delay_ms / 1000)
        system.recover_nodes(self.nodes)
