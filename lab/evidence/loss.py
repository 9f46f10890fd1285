"""A lost increment: one line of ``losses.jsonl``. The judge writes the file, and the timeline reads it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO

import msgspec

from lab.errors import in_short
from lab.evidence.mechanism import Mechanism
from lab.evidence.run_folder import new_file


class GrantFacts(msgspec.Struct, gc=False):
    """The facts of one grant and of the write under it. Times are CLOCK_MONOTONIC in nanoseconds, 0 without the event."""

    request: str
    replica: str
    # the value that the request read; None where the resource reads and writes in one command
    read: int | None
    # the value that the request wrote; None without a confirmed write
    wrote: int | None
    # the value that the write replaced
    overwrote: int | None
    # when the request asked for the lock
    asked_ns: int
    # when the request had the lock
    got_ns: int
    # when the read was sent
    reading_ns: int
    # when the write was confirmed
    wrote_ns: int
    # when the work was over, before the release was sent
    releasing_ns: int


class Loss(msgspec.Struct, tag="loss", tag_field="what", gc=False):
    """A write that destroyed increments, or restored some."""

    # how many increments the write destroyed; below zero, how many it restored
    destroyed: int
    mechanism: Mechanism
    # the grant whose write destroyed them
    culprit: GrantFacts
    # the grant whose value was overwritten; None where the evidence does not name it
    victim: GrantFacts | None


class LossFile:
    """``losses.jsonl`` of a run while it is judged. The file appears when it is complete.

    Where it cannot be written, the losses are dropped and ``failure`` has the reason: a run in a read-only folder can be judged.
    """

    def __init__(self, folder: Path) -> None:
        self.failure = ""
        self._path = folder / "losses.jsonl"
        self._temporary = folder / f".losses.jsonl.{os.getpid()}"
        self._encode = msgspec.json.Encoder().encode
        self._file: IO[bytes] | None = None
        try:
            self._file = new_file(self._temporary)
        except OSError as error:
            self._give_up(error)

    def add(self, loss: Loss) -> None:
        """Add a line."""
        if self._file is not None:
            try:
                self._file.write(self._encode(loss) + b"\n")
            except OSError as error:
                self._give_up(error)

    def close(self) -> None:
        """Give the file its name."""
        if self._file is not None:
            try:
                self._file.close()
                self._temporary.replace(self._path)
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        self.failure = in_short(OSError(error.errno, error.strerror, str(self._path)))
        with contextlib.suppress(OSError):  # what is left in the buffer cannot be written either
            if self._file is not None:
                self._file.close()
        self._file = None
        with contextlib.suppress(OSError):
            self._temporary.unlink(missing_ok=True)
