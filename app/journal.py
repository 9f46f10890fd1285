"""Write the journal of a replica: one line of JSON for each event, at the moment of the event.

Times are CLOCK_MONOTONIC in nanoseconds. All processes and containers of one machine share this clock. Stamps of two machines
must not be compared.

An increment takes at most four lines. Each line is one ``write`` to a file that is open for appending. So a kill loses nothing
that was written, and no other thread can split a line.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from time import monotonic_ns
from typing import Annotated, ClassVar

import msgspec

# No stamp and no value of a run is larger, and sums of them fit into 64 bits.
Number = Annotated[int, msgspec.Meta(ge=-(10**18), le=10**18)]
# A fence is only compared: it can be the time in nanoseconds, or a snowflake.
FENCES = 2**63
Fence = Annotated[int, msgspec.Meta(ge=0, le=FENCES - 1)]


class JournalEvent(msgspec.Struct, tag_field="what", kw_only=True, omit_defaults=True, gc=False):
    """The fields that all events have."""

    # empty for an event outside a request
    request: str
    # counts how often the request has started its work: a stage may do the work more than once
    turn: Number = 1
    # the field that has the event's own time
    moment: ClassVar[str]

    @property
    def at_ns(self) -> int:
        """Return when it happened."""
        at_ns: int = getattr(self, self.moment)
        return at_ns


class Got(JournalEvent, tag="got"):
    """The lock was granted."""

    # the key that was locked
    key: str
    asked_ns: Number
    got_ns: Number
    # how many commands the store had been sent by then; 0 if it was never asked
    commands: Number
    # the number of the grant; 0 if the stage has none
    fence: Fence = 0
    # whether the store refused (nothing set, no row changed, a transaction that did not succeed), and no answer can have been a
    # yes. The answer of a script is never a refusal: only the stage knows its meaning.
    told_no: bool = False
    # when the last command of the acquire was sent; 0 without any
    sent_ns: Number = 0
    # when the lease of the key began to count: when the command that set it was sent, if a later command followed; with several
    # servers, the first command of the last try. 0 if no command followed, or if it is not known
    leased_ns: Number = 0
    # in older journals, of a lock on several servers: when the first command of the last try was sent
    first_vote_ns: Number = 0
    # whether all answers of the store were refusals, and the last command got no answer
    unheard: bool = False
    # the session or the lease to which the created key or node belongs; empty if to none, None if the store has neither
    session: str | None = None
    # of nested locks, the key of the outer lock; empty if there is none
    outer_key: str = ""
    # when the outer lock was granted; 0 if there is none
    outer_got_ns: Number = 0
    moment = "got_ns"


class Writing(JournalEvent, tag="writing"):
    """The value was read, and is about to be written. So, after a kill, the judge knows that the write may have happened."""

    reading_ns: Number
    read_ns: Number
    # the number that was read; None if the resource reads and writes in one command
    read: Number | None
    # the number that is about to be written; None as above
    value: Number | None
    moment = "read_ns"


class Wrote(JournalEvent, tag="wrote"):
    """The resource confirmed the write."""

    wrote_ns: Number
    # the number that the resource holds now
    value: Number
    # the number that it held before
    overwrote: Number
    # when the write was sent
    writing_ns: Number
    # which part of the resource was written, if it has several
    part: str = ""
    moment = "wrote_ns"


class WroteLate(JournalEvent, tag="wrote_late"):
    """The resource confirmed a write when its request had its answer already: the work continued without it."""

    wrote_ns: Number
    # as in ``Wrote``
    value: Number
    overwrote: Number
    part: str = ""
    writing_ns: Number = 0
    moment = "wrote_ns"


class SoldOut(JournalEvent, tag="sold_out"):
    """Nothing was left to sell: the request wrote nothing, but has its answer."""

    # when the request knew it
    sold_out_ns: Number
    moment = "sold_out_ns"


class WroteAgain(JournalEvent, tag="wrote_again"):
    """The resource confirmed the second write of work that has two."""

    wrote_ns: Number
    # the number that the resource holds now
    value: Number
    # the number that it held before
    overwrote: Number
    moment = "wrote_ns"


class Refusal(JournalEvent, tag="refused"):
    """The resource did not accept the write: nothing was written."""

    refused_ns: Number
    # the resource's reason
    why: str
    moment = "refused_ns"


class Released(JournalEvent, tag="released"):
    """The work ended, and the release was sent."""

    # when the work ended: before the release was sent
    releasing_ns: Number
    # when the release was over
    released_ns: Number
    # ``ok``, ``not_owner``, or ``error: …``
    result: str
    # how many commands the store was sent for the release
    commands: Number
    # the store's answer to the last of these commands
    answer: str = ""
    # the name of that last command
    command: str = ""
    # of nested locks, when the release of the outer lock began; 0 if there is none
    outer_releasing_ns: Number = 0
    moment = "released_ns"


class GaveUp(JournalEvent, tag="gave_up"):
    """The request got no grant: not in time, or the store failed. The work was not done."""

    asked_ns: Number
    gave_up_ns: Number
    why: str
    # how many commands the store was sent
    commands: Number
    # the key that the request waited for, if it is known
    wanted: str = ""
    # the key that it held meanwhile, if it is known
    holding: str = ""
    moment = "gave_up_ns"


CONNECT = "connect"  # the command by which a session begins, or continues over a new connection


class Renewed(JournalEvent, tag="renewed"):
    """A command that was sent outside any request: a renewal."""

    # the key that it renews; or ``session`` and the name of a session or a lease, for all locks that belong to it
    key: str
    renewed_ns: Number
    # the store's answer
    answer: str
    # when the command was sent
    sent_ns: Number = 0
    # the name of the command
    command: str = ""
    # whether it can have prolonged a lease: the store agreed, and the command does more than read or delete
    prolonged: bool = False
    # the request that began the thread which sent the command, if a request began it
    begun_by: str = ""
    # the port of the server that answered; 0 if the command went to all servers at once
    server: Number = 0
    moment = "renewed_ns"


class Sent(JournalEvent, tag="sent"):
    """An event of older journals: how often a process had sent each command. Nothing needs it."""

    sent_ns: Number
    moment = "sent_ns"


class Started(JournalEvent, tag="started"):
    """A process of the replica has started. A replica that was killed and started again has several such events."""

    started_ns: Number
    pid: Number
    moment = "started_ns"


STALL_NS = 200_000_000  # a longer gap is a stall; of a shorter one, only the wait for a processor counts


class Stalled(JournalEvent, tag="stalled"):
    """The replica's heartbeat was late, although it is due every 50 ms: by a stall, or because no processor was free."""

    # the last beat before the gap, and the first after it
    since_ns: Number
    until_ns: Number
    # processor time that the process used in between; if it is long, the process was busy
    ran_ns: Number = 0
    # how long the heartbeat was ready and no processor was free; if it is long, the machine was busy. None if unknown
    queued_ns: Number | None = None
    # whether it was stopped by a signal: a process that continues after SIGSTOP gets SIGCONT. None if unknown
    stopped: bool | None = None
    moment = "until_ns"


AnyEvent = (
    Got | Writing | Wrote | SoldOut | WroteAgain | Refusal | Released | GaveUp | Renewed | Sent | WroteLate | Started | Stalled
)


class LineFile:
    """Append records to a file as lines of JSON, each by one ``write``. After the first failure, each later append fails."""

    def __init__(self, path: Path) -> None:
        self.failure: OSError | None = None  # why a line could not be written
        self._path = path
        self._encode = msgspec.json.Encoder().encode
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def append(self, record: msgspec.Struct) -> None:
        """Append a record. Raises OSError; after the first OSError, every call raises it."""
        if self.failure is not None:
            raise self.failure
        line = self._encode(record) + b"\n"
        try:
            written = os.write(self._file, line)
            if written == len(line):
                return
            os.write(self._file, line[written:])  # to learn the reason
            number = errno.ENOSPC
        except OSError as error:
            number = error.errno or errno.EIO
        self.failure = OSError(number, os.strerror(number), str(self._path))
        raise self.failure

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class Journal:
    """The file to which a replica writes its events. Without a path it writes nothing, at no cost worth measuring.

    If an event cannot be written, its request fails, and all later ones too: every acknowledged increment is on record.
    """

    def __init__(self, path: Path | None) -> None:
        self._file = None if path is None else LineFile(path)
        self.on = self._file is not None
        self.record(Started(request="", started_ns=monotonic_ns(), pid=os.getpid()))

    def record(self, event: AnyEvent) -> None:
        """Append one event. Raises OSError."""
        if self._file is not None:
            self._file.append(event)

    @property
    def failure(self) -> str:
        """Return why an event could not be written; empty if all were."""
        failure = self._file and self._file.failure
        return f"{failure.filename}: {failure.strerror}" if failure else ""
