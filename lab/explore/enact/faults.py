"""Turn the faults of a schedule into faults of a scenario, and record them as a run does, so that the judge can read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic_ns

import msgspec

from app.failpoints import ACQUIRE, AFTER_FIRST, BEFORE, READ, RELEASE, RENEW, THINK, WRITE
from lab.evidence.fault_record import FaultRecord
from lab.evidence.history import FAULTS
from lab.explore.code.operation import CommandSent
from lab.explore.search.event import CRASH, LOST_COMMAND, LOST_REPLY, PAUSE, RESEND, ScheduleEvent
from lab.explore.search.ghosts import ASKS, WORKS
from lab.explore.search.state import Move
from lab.explore.search.world import World
from lab.scenario.fault import Fault, kind_of
from lab.scenario.faults import faults

# by kind of event: the name of the scenario's fault
KINDS = {
    PAUSE: "freeze",
    CRASH: "kill",
    LOST_REPLY: "drop_reply",
    LOST_COMMAND: "fail_command",
    RESEND: "lose_reply",
}
REPLIES = (LOST_REPLY, RESEND)  # faults after the store has executed a command


class Injected:
    """The faults of one run, and their records."""

    def __init__(self, events: Sequence[ScheduleEvent], phases: Sequence[str], ttl_ms: int) -> None:
        """Take the events, and the phase of the request at each event."""
        self.at = [place for place, event in enumerate(events) if event.kind in KINDS]
        self.faults = [_fault(events[place], phases[place], ttl_ms) for place in self.at]
        self.records: dict[int, FaultRecord] = {}

    def begin(self, place: int, replica: str, pid: int, request: str) -> None:
        """Record that the fault of one event begins. place: of the event in the schedule."""
        number = self.at.index(place)
        fault, now_ns = self.faults[number], monotonic_ns()
        kind = kind_of(fault)
        record = FaultRecord(f"{kind}-{number + 1}", replica, pid, request, now_ns, kind, fault.at, effect=fault.effect)
        record.injected_ns = now_ns
        self.records[place] = record

    def recovered(self, place: int) -> None:
        """Record that the fault is over."""
        record = self.records[place]
        record.recovering_ns = record.recovering_ns or monotonic_ns()
        record.recovered_ns = monotonic_ns()

    def write(self, folder: Path) -> None:
        """Write the records of all faults that began into the folder of the run."""
        for place, record in self.records.items():
            if not record.recovered_ns:
                self.recovered(place)
        if self.records:
            (folder / FAULTS).write_bytes(msgspec.json.Encoder().encode_lines(self.records.values()))


def _fault(event: ScheduleEvent, phase: str, ttl_ms: int) -> Fault:
    kind: Callable[..., Fault] = faults()[KINDS[event.kind]]
    moment = AFTER_FIRST if event.kind in REPLIES else BEFORE
    return kind(at=f"{phase}.{moment}", for_ms=ttl_ms if event.kind is PAUSE else 0)


def phase_of(world: World, move: Move) -> str:
    """Return the phase of the request just before an event."""
    if move.event.client < 0:
        return ACQUIRE
    if not move.event.own:
        return RENEW
    node, phase = world.node(move.before, move.event.client), move.before.ghosts.actors[move.event.client].phase
    if phase != WORKS:
        return ACQUIRE if phase == ASKS else RELEASE
    return WRITE if node.writing else READ if isinstance(node.pending[0], CommandSent) else THINK
