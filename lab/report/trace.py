"""All requests of a run in the Trace Event format: ``trace.json``, which Perfetto and chrome://tracing open.

Each replica is a process there, and each of its threads is a row of requests, one after the other: from when it asked for the
lock to the end of the release, and in it the time with the lock, the read and the write. An arrow leads from a write that was
destroyed to the write that destroyed it. The keys of the lock, the faults and the counter have tracks of their own. Times are
microseconds since the first request.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from lab.evidence.run_folder import new_file
from lab.judge.findings import Findings
from lab.judge.grant import GrantRecord
from lab.story.timeline import NEVER, Timeline

FILE = "trace.json"
CHUNK = 10_000  # events that are written at once


class Event(msgspec.Struct, omit_defaults=True):
    """An event, with the names of the format."""

    ph: str
    name: str
    pid: int
    tid: int | None = None
    ts: int | None = None
    dur: int | None = None
    args: dict[str, Any] | None = None
    cat: str | None = None
    id: int | None = None
    bp: str | None = None


def write(folder: Path, picture: Timeline, findings: Findings) -> None:
    """Write the trace of a judged run into its folder. picture: the timeline of the run, for its keys, faults and losses."""
    events, encode = _Trace(picture, findings).all(), msgspec.json.Encoder().encode_lines
    with new_file(folder / FILE) as file:
        file.write(b'{"displayTimeUnit":"ms","traceEvents":[\n')
        file.write(encode([next(events)]).rstrip())
        while chunk := list(islice(events, CHUNK)):
            file.write(b",\n" + encode(chunk).rstrip().replace(b"\n", b",\n"))
        file.write(b"\n]}\n")


class _Trace:
    """The events of one run."""

    def __init__(self, picture: Timeline, findings: Findings) -> None:
        self.picture, self.findings = picture, findings
        self.pids = {name: place for place, name in enumerate(picture.replicas, 1)}
        # when a holder without a release died with its process
        self.died = {(held.request, held.got): held.until for held in picture.held if held.released == NEVER}
        self.rows: dict[int, list[int]] = {}  # of each replica: when the last request of each row ended
        self.wrote: dict[tuple[str, int], Event] = {}  # the write of each grant, by its request and when it was got

    def us(self, at_ns: int) -> int:
        """Return a stamp as microseconds since the first request."""
        return (at_ns - self.findings.origin_ns) // 1000

    def all(self) -> Iterator[Event]:
        """Yield all events."""
        for pid, name in enumerate([*self.pids, "lock", "faults", "counter"], 1):
            yield Event("M", "process_name", pid, args={"name": name})
        for grant in self.findings.trace.grants:
            yield from self.request(grant)
        for replica, event in self.findings.trace.waits:
            since, until = self.us(event.asked_ns), self.us(event.gave_up_ns)
            pid = self.pids[replica]
            yield self.span(f"{event.request} gives up", since, until, pid, self.row(pid, since, until))
        lock, faults = len(self.pids) + 1, len(self.pids) + 2
        for life in self.picture.lives:
            key, until = self.picture.keys[life.place], life.removed(self.picture.end)
            name = self.picture.held[life.holder].request if life.holder != NEVER else key
            yield self.span(name, life.born, until, lock, life.place, key=key, ended=life.how)
        for place, fault in enumerate(self.picture.faults):
            yield self.span(fault.kind, fault.at, max(fault.at, fault.recovered), faults, place, request=fault.request)
        yield from self.losses()

    def request(self, grant: GrantRecord) -> Iterator[Event]:
        """Yield the events of a grant."""
        asked, got = self.us(grant.asked_ns), self.us(grant.got_ns)
        end = (
            self.us(grant.releasing_ns or grant.released_ns)
            if grant.is_over
            else self.died.get((grant.request, got), self.picture.end)
        )
        over = max(end, self.us(grant.released_ns))
        pid = self.pids[grant.replica]
        tid = self.row(pid, asked, over)
        fence = {"fence": grant.fence} if grant.fence else {}
        yield self.span(grant.request, asked, over, pid, tid, key=grant.key, release=grant.result, **fence)
        yield self.span("has the lock" if grant.key else "works", got, end, pid, tid)
        if grant.read_ns:
            yield self.span(f"reads {grant.read}", self.us(grant.reading_ns), self.us(grant.read_ns), pid, tid)
        if grant.wrote is not None:
            at = self.us(grant.wrote_ns)
            wrote = self.span(f"writes {grant.wrote}", self.us(grant.writing_ns), at, pid, tid, over=grant.overwrote)
            self.wrote[grant.request, got] = wrote
            yield wrote
            yield Event("C", grant.part or "counter", len(self.pids) + 3, ts=at, args={"value": grant.wrote})

    def row(self, pid: int, since: int, until: int) -> int:
        """Return a row of a replica that is free in this span: the one that became free last."""
        rows = self.rows.setdefault(pid, [])
        free = [place for place, end in enumerate(rows) if end <= since]
        place = max(free, key=rows.__getitem__, default=len(rows))
        rows[place : place + 1] = [until]
        return place + 1

    def span(self, name: str, since: int, until: int, pid: int, tid: int, **about: object) -> Event:
        """Return an event that lasts."""
        return Event("X", name, pid, tid, since, max(0, until - since), about or None)

    def losses(self) -> Iterator[Event]:
        """Yield an arrow for each loss whose two writes are known."""
        held = self.picture.held
        for place, loss in enumerate(self.picture.losses):
            ends = [self.wrote.get((held[one].request, held[one].got)) for one in (loss.victim, loss.culprit) if one != NEVER]
            if len(ends) == 2 and None not in ends:
                for phase, end in zip("sf", filter(None, ends), strict=True):
                    yield Event(phase, "destroys", end.pid, end.tid, end.ts, cat="loss", id=place, bp="e")
