"""Some of the lock's servers are killed while a holder is inside, and are started again with what they kept on disk."""

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
        """Return whether the holder stays inside from when the servers run again: late servers come back after its time."""
        return not self.delay_ms

    @property
    def awaits_grant(self) -> bool:
        """Return whether another request may get the lock: a server that comes back without its data has a vote to give."""
        return not self.delay_ms

    def inject(self, system: System, record: FaultRecord) -> None:
        system.kill_nodes(self.nodes)
        record.injected_ns = monotonic_ns()  # the servers are down from here on
        system.recover_nodes(self.away)
        time.sleep(self.delay_ms / 1000)
        system.recover_nodes(self.nodes)
