"""The history of a run: both witnesses together, read in the order of time without ever holding all of it.

The replicas' witness is their journals (``journal/<replica>.jsonl``, events of ``app.journal``); the load's is
``requests.jsonl``, a line a request, written here by the locustfiles. What the lock's store told of its keys is
``server.jsonl``.
"""

from __future__ import annotations

import contextlib
import os
from bisect import bisect_left
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from app.journal import AnyEvent
from lab.evidence.fault_record import FaultRecord

BLOCK = 1 << 18  # bytes of a file decoded at a time
CHUNK = 8192  # lines of a journal held at a time; also by how far its threads may write out of order


class Outcome(StrEnum):
    """What the load knows of a request when it is over. Three outcomes, never two."""

    # done: the replica answered 200
    ACKNOWLEDGED = "acknowledged"
    # surely not done: the replica refused it
    FAILED = "failed"
    # it may or may not be done: a timeout, a reset, an error of the proxy or the server
    UNKNOWN = "unknown"


class Request(msgspec.Struct, gc=False):
    """What the load was told about one request. Times are CLOCK_MONOTONIC in nanoseconds.

    intended_ns: when it should have started; at an open-loop rate that is before start_ns when the load was late.
    status: 0 where no answer came. replica: who answered, empty if nobody.
    """

    id: str
    intended_ns: int
    start_ns: int
    end_ns: int
    outcome: Outcome
    status: int
    replica: str


class KeyEvent(msgspec.Struct, gc=False, omit_defaults=True):
    """One keyspace event of the lock's store, stamped when the lab heard of it: never before it happened, often later.

    An expiry is told when the server notices it, up to 100 ms late. node: of which server, where there are several.
    """

    at_ns: int
    event: str
    key: str
    node: str = ""


def outcome_of(status: int) -> Outcome:
    """Return the outcome of a request by its HTTP status, 0 without an answer."""
    if status == 200:
        return Outcome.ACKNOWLEDGED
    return Outcome.FAILED if status == 503 or 400 <= status < 500 else Outcome.UNKNOWN


class Recorder:
    """Appends one line a request; several processes may share the file."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._encode = msgspec.json.Encoder().encode

    def record(self, request: Request) -> None:
        """Append it."""
        os.write(self._file, self._encode(request) + b"\n")


class Damaged(Exception):  # noqa: N818 - says what the history is
    """A line that is not what it should be; the message names the file and the line."""


class History:
    """A run folder's evidence, streamed. Can be read any number of times."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def replicas(self) -> list[str]:
        """The replicas that kept a journal."""
        return sorted(path.stem for path in (self.folder / "journal").glob("*.jsonl"))

    def requests(self) -> Iterator[Request]:
        """The load's record, in the order in which requests ended."""
        path = self.folder / "requests.jsonl"
        if path.exists():
            yield from _lines(path, msgspec.json.Decoder(Request))

    def events(self) -> Iterator[tuple[str, AnyEvent]]:
        """All replicas' events as (replica, event), in the order of time."""
        decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
        journals = [self.folder / "journal" / f"{replica}.jsonl" for replica in self.replicas]
        return in_order({path.stem: _lines(path, decoder) for path in journals})

    def by_replica(self) -> Iterator[tuple[str, AnyEvent]]:
        """The same, replica by replica, each in the order in which it was written: no two stamps are compared."""
        decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
        for replica in self.replicas:
            for event in _lines(self.folder / "journal" / f"{replica}.jsonl", decoder):
                yield replica, event

    def faults(self) -> Iterator[FaultRecord]:
        """Read the faults that were injected, in the order in which they were over."""
        path = self.folder / "faults.jsonl"
        if path.exists():
            yield from _lines(path, msgspec.json.Decoder(FaultRecord))

    def key_events(self) -> Iterator[KeyEvent]:
        """What the lock's store told of its keys, in its own order."""
        path = self.folder / "server.jsonl"
        if path.exists():
            yield from _lines(path, msgspec.json.Decoder(KeyEvent))


class Timed(Protocol):
    """Anything with a stamp."""

    @property
    def at_ns(self) -> int: ...


T = TypeVar("T", bound=Timed)
Stamped = tuple[int, str, T]  # when, from which stream, what: a stamp is asked for once, and then sorted by many times
WHEN = itemgetter(0)


def in_order(streams: dict[str, Iterator[T]], chunk: int = CHUNK) -> Iterator[tuple[str, T]]:
    """Merge streams, each nearly in order, into one that is.

    A journal is out of order only by what its threads stamped before and wrote after each other: far less than ``chunk``
    lines. So of each stream that goes on, the last ``chunk`` items read are held back, and all items before the earliest
    of those are sorted and given out. Sorting nearly sorted runs is linear (timsort).
    """
    pending: dict[str, list[Stamped[T]]] = {name: [] for name in streams}
    live = dict(streams)
    while live:
        for name in list(live):
            items = pending[name]
            wanted = 2 * chunk - len(items)
            fresh = [(item.at_ns, name, item) for item in islice(live[name], wanted)]
            if len(fresh) < wanted:
                del live[name]
            if fresh:
                items.extend(fresh)
                items.sort(key=WHEN)
        horizon = min((pending[name][-chunk][0] for name in live), default=None)
        for _, name, item in _before(horizon, pending):
            yield name, item


def _before(horizon: int | None, pending: dict[str, list[Stamped[T]]]) -> list[Stamped[T]]:
    """Take out of ``pending`` all that is stamped before the horizon (everything, without one), in order."""
    due: list[Stamped[T]] = []
    for items in pending.values():
        cut = len(items) if horizon is None else bisect_left(items, horizon, key=WHEN)
        due += items[:cut]
        del items[:cut]
    due.sort(key=WHEN)
    return due


def _lines(path: Path, decoder: msgspec.json.Decoder[Any]) -> Iterator[Any]:
    """Decode a file, many lines at a time. A torn last line (a kill in the middle of a write) ends it; any other is Damaged."""
    number, torn = 0, b""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            whole, newline, rest = block.rpartition(b"\n")
            lines, torn = (torn + whole + newline, rest) if newline else (b"", torn + block)
            try:
                items = decoder.decode_lines(lines)
            except msgspec.DecodeError:
                yield from _one_by_one(path, lines, number, decoder)
            else:
                yield from items
            number += lines.count(b"\n")
    with contextlib.suppress(msgspec.DecodeError):
        yield from decoder.decode_lines(torn)


def _one_by_one(path: Path, lines: bytes, before: int, decoder: msgspec.json.Decoder[Any]) -> Iterator[Any]:
    """Where one of these lines is damaged: all up to it, and then its number in the file."""
    for number, line in enumerate(lines.split(b"\n")[:-1], before + 1):
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError as error:
            raise Damaged(f"{path}, line {number}: {error}") from error
