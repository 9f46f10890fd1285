"""Kill some of the lock's servers, and start them again for_ms later with their data on disk.

The request continues as soon as the servers are gone.
"""

from lab.evidence.fault_record import Effect, FaultRecord
from lab.scenario import fault
from lab.scenario.fault import System, Target
from lab.scenario.toml_types import SomeNodes, Text


class Fault(fault.Fault, frozen=True):
    target = Target.STORE
    effect = Effect.SERVERS_DIE
    stays = False

    at: Text = "acquire.before"
    nodes: SomeNodes = (1,)  # the servers of the lock's store, counted from 1

    def inject(self, system: System, record: FaultRecord) -> None:
        system.kill_nodes(self.nodes)

    def recover(self, system: System, record: FaultRecord) -> None:
        system.recover_nodes(self.nodes)
