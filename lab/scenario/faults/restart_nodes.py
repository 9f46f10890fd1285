"""Some of the lock's servers are killed while a holder is inside, and are started again with what they kept on disk."""

from __future__ import annotations

import time
from dataclasses import dataclass
from time import monotonic_ns
from typing import ClassVar

from app.failpoints import Injection
from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.scenario.fault import Need, System, Target


@dataclass(frozen=True)
class Fault:
    target: ClassVar[Target] = Target.STORE
    needs: ClassVar[tuple[Need, ...]] = ()
    effect: ClassVar[Effect] = Effect.SERVERS_RESTART

    # how long the holder stays inside
    for_ms: int
    # the servers of the lock's store, counted from 1
    nodes: tuple[int, ...] = (1,)
    # servers that were stopped from the beginning of the run, and start now: they never knew the lock
    away: tuple[int, ...] = ()
    # how long the killed servers stay stopped
    delay_ms: int = 0
    # the failpoint
    at: str = "read.after"
    # how many grants of a replica must have begun to read; at ``read.after`` the present grant counts
    skip: int = 0

    def injection(self, name: str) -> Injection:
        # a server that comes back late comes back after this holder's time
        return Injection(name, self.at, "wait", self.for_ms, self.skip, lab_first=not self.delay_ms)

    def inject(self, system: System, record: FaultRecord) -> None:
        system.kill_nodes(self.nodes)
        record.injected_ns = monotonic_ns()  # the servers are down from here on
        system.recover_nodes(self.away)
        time.sleep(self.delay_ms / 1000)
        system.recover_nodes(self.nodes)

    def recover(self, system: System, record: FaultRecord) -> None:
        """Do nothing: the servers run again already."""
