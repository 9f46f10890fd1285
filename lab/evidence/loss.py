"""A lost increment: one line of ``losses.jsonl``. The judge writes the file, and the timeline reads it."""

from __future__ import annotations

import msgspec


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
    # the reason, by its name in lab/judge/mechanisms.py
    mechanism: str
    # the grant whose write destroyed them
    culprit: GrantFacts
    # the grant whose value was overwritten; None where the evidence does not name it
    victim: GrantFacts | None
