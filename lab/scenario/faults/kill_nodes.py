"""Some of the lock's servers die, and are started again for_ms later with what they kept on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.STORE
    needs: ClassVar[tuple[Need, ...]] = ()
    effect: ClassVar[Effect] = Effect.SERVERS_DIE

    # how long the servers are gone; the request goes on as soon as they are gone
    for_ms: int
    # the servers of the lock's store, counted from 1
    nodes: tuple[int, ...] = (1,)
    # the failpoint
    at: str = "acquire.before"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        return Injection(name, self.at, "wait", 0, self.skip, lab_first=True)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.kill_nodes(self.nodes)

    def recover(self, system: System, record: FaultRecord) -> None:
        system.recover_nodes(self.nodes)
