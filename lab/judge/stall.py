"""A stall: a time in which a replica did not run, although no fault of the scenario stopped it."""

from __future__ import annotations

from typing import NamedTuple


class Stall(NamedTuple):
    """One gap in a replica's heartbeat that no fault explains. Times are CLOCK_MONOTONIC in nanoseconds."""

    replica: str
    since_ns: int
    until_ns: int
    # whether something outside stopped the process, or left it no processor: it used little processor time itself
    stopped: bool
    # whether the process made it itself, by a call that keeps the interpreter: no signal had stopped it, and it was not busy
    own: bool = False

    @property
    def lasted_ns(self) -> int:
        return self.until_ns - self.since_ns
