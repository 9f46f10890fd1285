"""A run in progress, as the live page shows it: read from the files that the run writes
anyway.

The system under test is not queried. The load's record is read before the replicas' journals, so
the counter's value includes all acknowledged increments, and a gap between the two is never an
artefact of reading.
"""

from __future__ import annotations

import contextlib
import os
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic_ns
from typing import Any, BinaryIO

import msgspec

from app.journal import AnyEvent, Wrote, WroteAgain
from lab.evidence.fault_record import FaultRecord
from lab.evidence.history import Outcome
from lab.language import Language
from lab.story import say

AT_ONCE = 1 << 22  # bytes: a reader that comes late reads in steps


class Tail:
    """The lines of a file since the last read. The file may not exist yet, and may get another name meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: BinaryIO | None = None

    def lines(self) -> bytes:
        """Return all complete lines that are new, as one text; empty without any."""
        if self._handle is None:
            try:
                self._handle = self.path.open("rb")
            except FileNotFoundError:
                return b""
        block = self._handle.read(AT_ONCE)
        whole = block[: block.rfind(b"\n") + 1]
        self._handle.seek(len(whole) - len(block), os.SEEK_CUR)  # to the line that is not complete yet
        return whole

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None


SPEED_OVER_S = 1.0
POINTS = 600  # the most points of the curve, for browsers that connect late: if there are more, every second one is dropped
MARKS = {outcome: f'"outcome":"{outcome}"'.encode() for outcome in Outcome}


Clock = Callable[[], int]


class LiveRun:
    """Follows one run. ahead_ns: by replica, how far its clock is ahead of the lab's. clock: returns nanoseconds of the lab's."""

    def __init__(self, folder: Path, about: Mapping[str, Any], ahead_ns: Mapping[str, int], clock: Clock = monotonic_ns) -> None:
        self.about = dict(about)
        self._clock, self._ahead_ns = clock, ahead_ns
        self._since_ns = clock()
        self._folder = folder
        self._requests = Tail(folder / "requests.jsonl")
        names = [f"replica-{number}" for number in range(1, about["replicas"] + 1)]
        self._journals = {name: Tail(folder / "journal" / f"{name}.jsonl") for name in names}
        self._wrote_ns = self._since_ns  # when the last write was made
        self._recovered = Tail(folder / "faults.jsonl")
        self._faults: dict[str, FaultRecord] = {}
        self._counts = dict.fromkeys(Outcome, 0)
        self._parts: dict[str, tuple[int, int]] = {}  # by part of the counter: the time and the value of the last write
        self._speed: deque[tuple[float, int]] = deque()
        self._decode_event: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
        self._every = 1
        self._looks = 0
        self._rested = False
        self.points: list[tuple[float, int, int, int, int]] = []  # seconds, acknowledged, unknown, the counter, failed

    @property
    def counter(self) -> int:
        """Return the counter's value after the last write of each of its parts."""
        return sum(value for _, value in self._parts.values())

    @property
    def over(self) -> bool:
        """Return whether nothing more will come: every request is on record, and the last look found nothing new."""
        return self._rested and sum(self._counts.values()) >= self.about["requests"]

    def look(self) -> dict[str, Any]:
        """Return the news for the page: figures and faults. Their size does not grow with the run."""
        now_ns = self._clock()
        self._rested = not self._read_requests()
        for name, tail in self._journals.items():
            self._read_journal(tail, self._ahead_ns.get(name, 0))
        at_s = self._seconds(now_ns)
        self._keep(at_s)
        return {
            "at_s": at_s,
            "acknowledged": self._counts[Outcome.ACKNOWLEDGED],
            "failed": self._counts[Outcome.FAILED],
            "unknown": self._counts[Outcome.UNKNOWN],
            "answered": sum(self._counts.values()),
            "counter": self.counter,
            "kept_per_s": self._kept_per_s(at_s),
            "idle_s": round(max(0, now_ns - self._wrote_ns) / 1e9, 1),
            "faults": self._bands(),
        }

    def close(self) -> None:
        """Close the files."""
        for tail in (self._requests, self._recovered, *self._journals.values()):
            tail.close()

    def _seconds(self, at_ns: int) -> float:
        return round((at_ns - self._since_ns) / 1e9, 3)

    def _read_requests(self) -> bool:
        """Count outcomes without decoding each line. Return whether there was any."""
        block = self._requests.lines()
        for outcome, mark in MARKS.items():
            self._counts[outcome] += block.count(mark)
        return bool(block)

    def _read_journal(self, tail: Tail, ahead_ns: int) -> None:
        try:
            events = self._decode_event.decode_lines(tail.lines())
        except msgspec.DecodeError:
            return  # the verdict will name the broken line; the page continues
        for event in events:
            if isinstance(event, Wrote | WroteAgain):
                part = event.part if isinstance(event, Wrote) else ""
                wrote_ns = event.wrote_ns - ahead_ns
                self._parts[part] = max(self._parts.get(part, (0, 0)), (wrote_ns, event.value))
                self._wrote_ns = max(self._wrote_ns, wrote_ns)

    def _kept_per_s(self, at_s: float) -> float:
        """Return how many increments a second were acknowledged and kept, over the last second."""
        self._speed.append((at_s, min(self._counts[Outcome.ACKNOWLEDGED], self.counter)))
        while len(self._speed) > 2 and at_s - self._speed[1][0] >= SPEED_OVER_S:
            self._speed.popleft()
        (since_s, before), (_, now) = self._speed[0], self._speed[-1]
        return round(max(0, now - before) / (at_s - since_s), 1) if at_s > since_s else 0.0

    def _keep(self, at_s: float) -> None:
        self._looks += 1
        if self._looks % self._every == 0:
            counts = self._counts
            acknowledged, unknown, failed = counts[Outcome.ACKNOWLEDGED], counts[Outcome.UNKNOWN], counts[Outcome.FAILED]
            self.points.append((at_s, acknowledged, unknown, self.counter, failed))
        if len(self.points) > POINTS:
            self.points = self.points[::2]
            self._every *= 2

    def _bands(self) -> list[dict[str, Any]]:
        """Return the faults as bands: from a replica's note at once, from the fault record after the recovery."""
        for note in (self._folder / "faults").glob("*.reached"):
            if note.stem not in self._faults:
                with contextlib.suppress(msgspec.DecodeError, OSError):
                    self._faults[note.stem] = msgspec.json.decode(note.read_bytes(), type=FaultRecord)
        with contextlib.suppress(msgspec.DecodeError):
            for record in msgspec.json.Decoder(FaultRecord).decode_lines(self._recovered.lines()):
                self._faults[record.name] = record
        return [self._band(record) for record in self._faults.values()]

    def _band(self, record: FaultRecord) -> dict[str, Any]:
        return {
            "kind": {one: say.fault(record.name.rpartition("-")[0], one) for one in Language},
            "replica": record.replica,
            "from_s": self._seconds(record.at_ns),
            "until_s": self._seconds(record.recovered_ns) if record.recovered_ns else None,
        }
