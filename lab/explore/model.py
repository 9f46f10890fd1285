"""Define the terms that all packages of the explorer share: the grid of moments, names of keys, time limits, numbered values."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Generic, TypeVar

EPOCH_MS = 1_700_000_000_300  # the time of day at which a search begins: not a whole second, so that rounded leases fail
GRID_MS = 100  # a moment is a multiple of this: fewer moments, fewer states
KEY, NUMBER = "L", "n"  # the lock's key and the counter's: short, for pictures
H = TypeVar("H", bound=Hashable)


class TimeLimit:
    """A budget of this process's processor time. It also ends when five times as much time has passed."""

    PASSES = 5

    def __init__(self, budget_s: float) -> None:
        self.budget_s, self._from_s = budget_s, (time.process_time(), time.monotonic())

    @property
    def spent_s(self) -> tuple[float, float]:
        """Return the seconds spent: of processor time, and a fifth of the time that has passed."""
        return time.process_time() - self._from_s[0], (time.monotonic() - self._from_s[1]) / self.PASSES

    @property
    def left_s(self) -> float:
        """Return the seconds left; below zero if the budget is spent."""
        return self.budget_s - max(self.spent_s)


class NotExplored(BaseException):
    """The stage does something that the explorer has no model of. The message names it."""


class Numbered(list[H], Generic[H]):
    """A list of different values. The number of a value is its place in the list."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[H, int] = {}

    def number(self, value: H) -> int:
        """Return the number of a value. A new value gets the next number."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self)
            self.append(value)
        return number


def on_grid(duration_ms: float) -> int:
    """Return a duration in milliseconds, rounded up to the grid."""
    return int(-(-duration_ms // GRID_MS) * GRID_MS)
