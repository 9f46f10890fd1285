"""What a replica did: its events, each one line of JSON, written when it happened.

Times are CLOCK_MONOTONIC in nanoseconds: one clock for all processes of one machine (and of its containers), and for
nobody else. Stamps of two machines must not be compared.

An increment takes at most four lines, each one ``write`` to a file opened for appending, so that a kill loses nothing
that was written and a line is never torn by another thread.
"""

from __future__ import annotations

import os
from pathlib import Path
from time import monotonic_ns

import msgspec


class Event(msgspec.Struct, tag_field="what", kw_only=True, omit_defaults=True, gc=False):
    """What all events share: the request, and which doing of the work it was (a stage may repeat the work)."""

    request: str
    turn: int = 1


class Got(Event, tag="got"):
    """The lock was granted. commands: how many the store had been sent by then, 0 if it was never asked.

    told_no: the store said no to all of them (nothing set, no row touched), and nobody looked.
    """

    key: str
    asked_ns: int
    got_ns: int
    commands: int
    fence: int = 0
    told_no: bool = False

    @property
    def at_ns(self) -> int:
        return self.got_ns


class Writing(Event, tag="writing"):
    """The value was read, and ``value`` is about to be written: an intent, so that a kill in between is a known unknown.

    read and value are None where the resource reads and writes in one command.
    """

    reading_ns: int
    read_ns: int
    read: int | None
    value: int | None

    @property
    def at_ns(self) -> int:
        return self.read_ns


class Wrote(Event, tag="wrote"):
    """The resource confirmed: it holds ``value`` now, and ``overwrote`` is what stood there before.

    part: which part of it, where it is made of several.
    """

    wrote_ns: int
    value: int
    overwrote: int
    part: str = ""

    @property
    def at_ns(self) -> int:
        return self.wrote_ns


class WroteAgain(Event, tag="wrote_again"):
    """The second write of work that has two was confirmed: what it left, and what stood there before."""

    wrote_ns: int
    value: int
    overwrote: int

    @property
    def at_ns(self) -> int:
        return self.wrote_ns


class Refusal(Event, tag="refused"):
    """The resource did not take the write, and says why: nothing was written."""

    refused_ns: int
    why: str

    @property
    def at_ns(self) -> int:
        return self.refused_ns


class Released(Event, tag="released"):
    """The work ended at ``releasing_ns``, before the release was sent; ``result`` is how the release went.

    result: ``ok``, ``not_owner``, or ``error: …``. commands: how many the store was sent for the release, and
    ``command`` and ``answer``: the name of the last of them, and what it said.
    """

    releasing_ns: int
    released_ns: int
    result: str
    commands: int
    answer: str = ""
    command: str = ""

    @property
    def at_ns(self) -> int:
        return self.released_ns


class GaveUp(Event, tag="gave_up"):
    """No grant: not in time, or the store failed; the work was not done. commands: how many tries the store saw.

    wanted, holding: the keys of what it waited for and of what it held meanwhile, where it is known.
    """

    asked_ns: int
    gave_up_ns: int
    why: str
    commands: int
    wanted: str = ""
    holding: str = ""

    @property
    def at_ns(self) -> int:
        return self.gave_up_ns


class Renewed(Event, tag="renewed"):
    """A command sent outside any request: a renewal. request is empty, ``answer`` is the store's."""

    key: str
    renewed_ns: int
    answer: str

    @property
    def at_ns(self) -> int:
        return self.renewed_ns


class Started(Event, tag="started"):
    """A process of the replica came up; a replica that was killed and came back has several. request is empty."""

    started_ns: int
    pid: int

    @property
    def at_ns(self) -> int:
        return self.started_ns


AnyEvent = Got | Writing | Wrote | WroteAgain | Refusal | Released | GaveUp | Renewed | Started


class Journal:
    """Where a replica says what it did; without a path it says nothing, at no cost worth measuring."""

    def __init__(self, path: Path | None) -> None:
        self._encode = msgspec.json.Encoder().encode
        self._file = None if path is None else os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self.on = self._file is not None
        self.say(Started(request="", started_ns=monotonic_ns(), pid=os.getpid()))

    def say(self, event: AnyEvent) -> None:
        """Append one event."""
        if self._file is not None:
            os.write(self._file, self._encode(event) + b"\n")
