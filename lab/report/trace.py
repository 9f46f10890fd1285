"""Write all requests of a run in the Trace Event format: ``trace.json``, which Perfetto and chrome://tracing open.

In it, each replica is a process, and each of its threads is a row of requests, one after another. A request lasts from its
acquire to the end of its release, and contains the time with the lock, the read and the write. An arrow leads from a write that
was destroyed to the write that destroyed it. The keys of the lock, the faults and the counter have tracks of their own. Times are
microseconds since the first request.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from lab.evidence.run_folder import new_file
from lab.report.timeline_reader import Reader
from lab.story.timeline import NEVER, DrawnGrant

FILE = "trace.json"

Event = dict[str, Any]  # its keys are defined by the format


def write(folder: Path, reader: Reader) -> None:
    """Write the trace of a judged run into its folder. reader: the reader of this run."""
    events, encode = _Trace(reader).all(), msgspec.json.Encoder().encode
    with new_file(folder / FILE) as file:
        file.write(b'{"displayTimeUnit":"ms","traceEvents":[\n' + encode(next(events)))
        file.writelines(b",\n" + encode(event) for event in events)
        file.write(b"\n]}\n")


class _Trace:
    """The events of one run."""

    def __init__(self, reader: Reader) -> None:
        self.reader, self.picture = reader, reader.picture
        self.rows: dict[int, list[int]] = {}  # by replica: for each row, when its last request ended
        self.wrote: dict[tuple[str, int], Event] = {}  # the write of each grant, by the request and the time of the grant

    def all(self) -> Iterator[Event]:
        """Yield all events."""
        picture = self.picture
        for pid, name in enumerate([*picture.replicas, "lock", "faults", "counter"], 1):
            yield {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}}
        for held in self.reader.all_grants():
            yield from self.request(held)
        for waited in (self.reader.gave_up(*wait) for wait in self.reader.findings.trace.waits):
            pid = waited.replica + 1
            row = self.row(pid, waited.asked, waited.gave_up)
            yield _span(f"{waited.request} gives up", waited.asked, waited.gave_up, pid, row)
        lock, faults = len(picture.replicas) + 1, len(picture.replicas) + 2
        for life in picture.lives:
            key = picture.keys[life.place]
            name = picture.held[life.holder].request if life.holder != NEVER else key
            yield _span(name, life.born, life.removed(picture.end), lock, life.place, key=key, ended=life.how)
        for place, fault in enumerate(picture.faults):
            yield _span(fault.kind, fault.at, fault.recovered, faults, place, request=fault.request)
        yield from self.losses()

    def request(self, held: DrawnGrant) -> Iterator[Event]:
        """Yield the events of a grant."""
        pid, over = held.replica + 1, max(held.until, held.released)
        tid = self.row(pid, held.asked, over)
        fence = {"fence": held.fence} if held.fence else {}
        key = self.reader.name(held.key)
        yield _span(held.request, held.asked, over, pid, tid, key=key, release=held.result, **fence)
        yield _span("has the lock" if key else "works", held.got, held.until, pid, tid)
        if held.read is not None:
            yield _span(f"reads {held.read}", held.reading, held.read_at, pid, tid)
        if held.wrote is not None:
            wrote = _span(f"writes {held.wrote}", held.writing, held.wrote_at, pid, tid, over=held.overwrote)
            self.wrote[held.request, held.got] = wrote
            yield wrote
            track = {"pid": len(self.picture.replicas) + 3, "ts": held.wrote_at, "args": {"value": held.wrote}}
            yield {"ph": "C", "name": held.part or "counter", **track}

    def row(self, pid: int, since: int, until: int) -> int:
        """Return a row of a replica that is free in this span. Of several free rows, take the one that became free last."""
        rows = self.rows.setdefault(pid, [])
        free = [place for place, end in enumerate(rows) if end <= since]
        place = max(free, key=rows.__getitem__, default=len(rows))
        rows[place : place + 1] = [until]
        return place + 1

    def losses(self) -> Iterator[Event]:
        """Yield an arrow for each loss whose two writes are known."""
        held = self.picture.held
        for place, loss in enumerate(self.picture.losses):
            grants = [held[number] for number in (loss.victim, loss.culprit) if number != NEVER]
            ends = [self.wrote.get((grant.request, grant.got)) for grant in grants]
            if len(ends) == 2 and None not in ends:
                for phase, end in zip("sf", filter(None, ends), strict=True):
                    point = {name: end[name] for name in ("pid", "tid", "ts")}
                    yield {"ph": phase, "name": "destroys", "cat": "loss", "id": place, "bp": "e", **point}


def _span(name: str, since: int, until: int, pid: int, tid: int, **args: object) -> Event:
    """Return an event from one time to another."""
    lasting = {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": since, "dur": max(0, until - since)}
    return lasting | {"args": args} if args else lasting
