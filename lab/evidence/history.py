"""Read the history of a run: the records of the replicas and of the load in order of time, never all in memory.

The replicas' record is their journals (``journal/<replica>.jsonl``, events of ``app.journal``). The load's record is
``requests.jsonl``, one line for each request, which the locustfiles write. ``server.jsonl`` has the reports of the lock's store
on its keys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from enum import StrEnum
from functools import cache, partial
from heapq import merge
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from app.journal import AnyEvent, Number
from lab.evidence.fault_record import FaultRecord
from lab.evidence.run_record import Damage, DamageKind

REQUESTS = "requests.jsonl"
KEY_EVENTS = "server.jsonl"
FAULTS = "faults.jsonl"
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError)  # the errors of the decoder
BLOCK = 1 << 16  # bytes of a file that are decoded at a time: larger blocks do not stay in the processor's cache
CHUNK = 8192  # lines of a journal that are held at a time: its threads write out of order by fewer lines


class Outcome(StrEnum):
    """How a request ended, as the load knows it. UNKNOWN counts neither as done nor as not done."""

    # done: the replica answered 200
    ACKNOWLEDGED = "acknowledged"
    # answered, and certainly not done: the replica answered that nothing is left to sell
    SOLD_OUT = "sold_out"
    # certainly not done: the replica refused it
    FAILED = "failed"
    # it may or may not be done: a timeout, a reset, an error of the proxy or the server
    UNKNOWN = "unknown"


class Request(msgspec.Struct, omit_defaults=True, gc=False):
    """One request, as the load has recorded it. Times are CLOCK_MONOTONIC in nanoseconds."""

    id: str
    # when it should have started: before start_ns if the load was late at an open-loop rate
    intended_ns: Number
    # when it was sent
    start_ns: Number
    # when it was answered or given up
    end_ns: Number
    outcome: Outcome
    # the HTTP status; 0 without an answer
    status: Number
    # the replica that answered; empty without an answer
    replica: str
    # the number in an answer of status 200; None without one
    value: Number | None = None
    # the Locust worker that sent it, if its clock is not the lab's
    worker: str = ""


class KeyEvent(msgspec.Struct, gc=False, omit_defaults=True):
    """One keyspace event of the lock's store. The store reports an expiry when it notices it, up to 100 ms late."""

    # when the lab received it: never before the event, often later
    at_ns: Number
    # the store's name for it, for example ``set`` or ``expired``
    event: str
    key: str
    # the server, if there are several
    node: str = ""


def outcome_of(status: int, replica: str, sold_out: bool = False) -> Outcome:
    """Return the outcome of a request by its HTTP status (0 without an answer) and the replica that the answer names.

    A replica can die while it answers: then the status arrives without the body, and acknowledges nothing.
    """
    if status == 200:
        done = Outcome.SOLD_OUT if sold_out else Outcome.ACKNOWLEDGED
        return done if replica else Outcome.UNKNOWN
    return Outcome.FAILED if status == 503 or 400 <= status < 500 else Outcome.UNKNOWN


class History:
    """The evidence in a run folder, streamed. It can be read any number of times.

    A file is read up to its first error. left_out: files that are not read at all, because they have changed since the run.
    """

    def __init__(self, folder: Path, left_out: Collection[str] = ()) -> None:
        self.folder = folder
        self.left_out = frozenset(left_out)
        self.damaged: dict[str, Damage] = {}  # by file: its first error

    @property
    def replicas(self) -> list[str]:
        """Return the replicas that kept a journal."""
        names = (path.stem for path in (self.folder / "journal").glob("*.jsonl"))
        return sorted(name for name in names if journal_of(name) not in self.left_out)

    def requests(self) -> Iterator[Request]:
        """Read the load's record, in the order in which requests ended."""
        return self._read(REQUESTS, msgspec.json.Decoder(Request))

    def stamped(self, shifted: Shifted | None = None) -> Iterator[Stamped]:
        """Read all replicas' events as (when, replica, event), in the order of time.

        shifted: turns a stamp of a replica into a stamp of the lab's clock, if the replicas have several clocks. The events then
        have stamps of the lab's clock.
        """
        decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
        streams = {replica: self._read(journal_of(replica), decoder) for replica in self.replicas}
        if shifted is not None:
            streams = {replica: _with_shifted_stamps(partial(shifted, replica), events) for replica, events in streams.items()}
        return in_order(streams)

    def faults(self) -> Iterator[FaultRecord]:
        """Read the faults that were injected, in order of their recovery."""
        return self._read(FAULTS, msgspec.json.Decoder(FaultRecord))

    def key_events(self) -> Iterator[KeyEvent]:
        """Read the reports of the lock's store on its keys, in the store's order."""
        return self._read(KEY_EVENTS, msgspec.json.Decoder(KeyEvent))

    def _read(self, name: str, decoder: msgspec.json.Decoder[Any]) -> Iterator[Any]:
        """Decode a file. A missing file counts as empty. A torn last line, after a kill, is left out."""
        return chain.from_iterable(self._blocks(name, decoder))  # passing items through a generator one by one is slow

    def _blocks(self, name: str, decoder: msgspec.json.Decoder[Any]) -> Iterator[Iterable[Any]]:
        """Decode a file, many lines at a time."""
        path = self.folder / name
        if name in self.left_out or not path.exists():
            return
        try:
            with path.open("rb") as file:
                while lines := file.readlines(BLOCK):
                    if not lines[-1].endswith(b"\n"):
                        lines.pop()
                    yield decoder.decode_lines(b"".join(lines))
        except (OSError, *UNREADABLE) as error:
            self.damaged[name] = Damage(name, DamageKind.UNREADABLE, detail=getattr(error, "strerror", None) or str(error))


def journal_of(replica: str) -> str:
    """Return the path of a replica's journal in a run folder."""
    return f"journal/{replica}.jsonl"


Shifted = Callable[[str, int], int]  # takes a replica and a stamp of its clock
LENGTHS = ("ran_ns", "queued_ns")  # the fields of events that are lengths of time; all others in ns are moments
Stamped = tuple[int, str, AnyEvent]  # time, replica, event: the stamp is computed once, and used for sorting many times
WHEN = itemgetter(0)


def _with_shifted_stamps(shifted: Callable[[int], int], events: Iterator[AnyEvent]) -> Iterator[AnyEvent]:
    """Yield the same events with other stamps."""
    for event in events:
        for name in _moments(type(event)):
            setattr(event, name, shifted(getattr(event, name)))
        yield event


@cache
def _moments(kind: type[AnyEvent]) -> list[str]:
    return [name for name in kind.__struct_fields__ if name.endswith("_ns") and name not in LENGTHS]


def in_order(streams: dict[str, Iterator[AnyEvent]], chunk: int = CHUNK) -> Iterator[Stamped]:
    """Merge streams that are nearly in order into one stream in order.

    Threads of a replica may write their lines in another order than they stamped them, but never ``chunk`` lines apart.
    """
    return merge(*(_sorted(name, items, chunk) for name, items in streams.items()), key=WHEN)


def _sorted(name: str, items: Iterator[AnyEvent], chunk: int) -> Iterator[Stamped]:
    """Yield a stream in order. The last ``chunk`` items are held back: a later line may belong before them."""
    held: list[Stamped] = []
    while fresh := [(item.at_ns, name, item) for item in islice(items, chunk)]:
        held += fresh
        held.sort(key=WHEN)  # nearly sorted items are sorted in linear time
        yield from held[:-chunk]
        del held[:-chunk]
    yield from held
