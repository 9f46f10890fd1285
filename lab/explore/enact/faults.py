"""The faults of a schedule: as the scenario has them, and as the run records them. The judge reads the same words as always."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic_ns
from typing import Any

import msgspec

from app.failpoints import ACQUIRE, AFTER_FIRST, BEFORE, READ, RELEASE, RENEW, THINK, WRITE
from lab.evidence.fault_record import FaultRecord
from lab.evidence.history import FAULTS
from lab.explore.code.operation import CommandSent
from lab.explore.search.event import CRASH, LOST_COMMAND, LOST_REPLY, PAUSE, RESEND, RESTART, ScheduleEvent
from lab.explore.search.replay import Walk
from lab.explore.search.state import State
from lab.explore.search.world import World
from lab.scenario.fault import Fault, kind_of
from lab.scenario.faults import faults

# by the kind of an event: the fault of a scenario
KINDS = {
    PAUSE: "freeze",
    CRASH: "kill",
    LOST_REPLY: "drop_reply",
    LOST_COMMAND: "fail_command",
    RESEND: "lose_reply",
    RESTART: "restart_redis",
}
REPLIES = (LOST_REPLY, RESEND)  # faults after a command was carried out


class Injected:
    """The faults of one run, and their records."""

    def __init__(self, events: Sequence[ScheduleEvent], phases: Sequence[str], ttl_ms: int) -> None:
        """Take the events, and the phase of the request at each of them."""
        self.at = [place for place, event in enumerate(events) if event.kind in KINDS]
        self.faults = [_fault(events[place], phases[place], ttl_ms) for place in self.at]
        self.records: dict[int, FaultRecord] = {}

    def begin(self, place: int, replica: str, pid: int, request: str) -> FaultRecord:
        """Record that the fault of one event begins."""
        number = self.at.index(place)
        fault, now_ns = self.faults[number], monotonic_ns()
        kind = kind_of(fault)
        record = FaultRecord(f"{kind}-{number + 1}", replica, pid, request, now_ns, kind, fault.at, effect=fault.effect)
        record.injected_ns = now_ns
        self.records[place] = record
        return record

    def recovered(self, place: int) -> None:
        """Record that the fault is over."""
        record = self.records[place]
        record.recovering_ns = record.recovering_ns or monotonic_ns()
        record.recovered_ns = monotonic_ns()

    def write(self, folder: Path) -> None:
        """Write the record of each fault that began."""
        for place, record in self.records.items():
            if not record.recovered_ns:
                self.recovered(place)
        lines = [msgspec.json.encode(record) + b"\n" for record in self.records.values()]
        if lines:
            (folder / FAULTS).write_bytes(b"".join(lines))


def _fault(event: ScheduleEvent, phase: str, ttl_ms: int) -> Fault:
    kind: Any = faults()[KINDS[event.kind]]
    moment = AFTER_FIRST if event.kind in REPLIES else BEFORE
    made: Fault = kind(at=f"{phase}.{moment}", for_ms=ttl_ms if event.kind in (PAUSE, RESTART) else 0)
    return made


def phases(seen: Walk) -> Iterator[str]:
    """Yield the phase of the request of each event when the event comes."""
    was_inside = [False] * len(seen.world.trees)
    for move in seen.moves:
        before, client = move.before, move.event.client
        for number in range(len(was_inside)):
            was_inside[number] |= bool(seen.world.node(before, number).inside)
        if client < 0:
            yield ACQUIRE
        else:
            yield RENEW if not move.event.own else _phase(seen.world, before, client, was_inside[client])


def _phase(world: World, state: State, client: int, was_inside: bool) -> str:
    node = world.node(state, client)
    if node.writing:
        return WRITE
    if node.inside:
        return READ if isinstance(node.pending[0], CommandSent) else THINK
    return RELEASE if was_inside else ACQUIRE
