"""What the code of a stage and its stores agree on: moments on a grid, the names of keys, and what nothing here models."""

from __future__ import annotations

EPOCH_MS = 1_700_000_000_000  # the time of day at which the clock of a search begins
GRID_MS = 100  # a moment is a multiple of this: fewer moments, fewer states
KEY, NUMBER = "L", "n"  # the lock's key and the counter's: short, for pictures


class NotExplored(BaseException):
    """The stage does something that the explorer has no model of. The message says what."""


def on_grid(duration_ms: float) -> int:
    """Return a duration in milliseconds, rounded up to the grid."""
    return int(-(-duration_ms // GRID_MS) * GRID_MS)
