"""Make one lock of two: the same lock twice, or two locks that other requests take in the opposite order."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from app.lock import Grant, Lock, NotAcquired, Result, Work
from app.request.context import here

OUTER_PAUSE_MS = 100  # the shortest pause between the two releases, for nested "same": a polling waiter tries three times in it


@dataclass(frozen=True)
class NestedLock:
    """Acquires ``outer``, then ``inner``; releases ``inner``, then ``outer``."""

    outer: Lock
    inner: Lock
    # the pause between the two acquires: two requests of opposite order then deadlock
    pause_s: float = 0
    # the pause between the two releases: an inner release that frees the outer lock as well lets another request in
    outer_pause_s: float = 0

    def run(self, work: Work[Result]) -> Result:
        """Acquire the outer lock, then the inner lock; do the work; release both."""

        def within(outer: Grant) -> Result:
            here().outer_key, here().outer_got_ns = outer.key, time.monotonic_ns()
            time.sleep(self.pause_s)
            try:
                result = self.inner.run(lambda inner: work(_valid_while_both_are(outer, inner)))
                time.sleep(self.outer_pause_s)
                return result
            except NotAcquired as error:
                error.holding = outer.key
                raise
            finally:
                here().outer_releasing_ns = time.monotonic_ns()

        return self.outer.run(within)


def _valid_while_both_are(outer: Grant, inner: Grant) -> Grant:
    """Return the inner grant, which is valid only as long as both grants are: work under two locks needs both."""
    return replace(inner, still_mine=lambda: outer.still_mine() and inner.still_mine())
