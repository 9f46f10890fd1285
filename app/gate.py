"""Moments of a request where a replica can be struck, and the count of what it sent.

A gate is a phase and a moment. Phases follow from ``run(work)`` itself: ``acquire`` is before the work, ``read`` and
``write`` are in it, ``release`` is after it; what a thread sends outside any request is ``renew``. Commands are seen by
the store that is handed to the lock. So a stage's text has no trace of a gate, and one scenario strikes every stage at
the corresponding moment.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

ACQUIRE, READ, WRITE, RENEW, RELEASE = PHASES = ("acquire", "read", "write", "renew", "release")
BEFORE, AFTER_FIRST, AFTER = MOMENTS = ("before", "after_first", "after")

Strike = Callable[[str, str, str], None]  # phase, moment, request


class Passage(threading.local):
    """Where this thread is: which request, in which phase, how many commands it sent to the lock's store there,
    and the answer to the last.
    """

    request: str = ""
    phase: str = RENEW
    commands: int = 0
    answer: object = ""

    def begin(self, request: str) -> None:
        """A request starts: it is going to ask for its lock."""
        self.request = request
        self.enter(ACQUIRE)

    def enter(self, phase: str) -> None:
        """The next phase of this request starts."""
        if strike is not None:
            strike(self.phase, AFTER, self.request)
        self.phase = phase
        self.commands = 0
        self.answer = ""
        if strike is not None:
            strike(phase, BEFORE, self.request)

    def sent(self, answer: object) -> None:
        """The lock's store was sent one more command, and answered."""
        self.commands += 1
        self.answer = answer
        if strike is not None and self.commands == 1:
            strike(self.phase, AFTER_FIRST, self.request)

    def end(self) -> None:
        """The request is over; what this thread sends from here on belongs to nobody."""
        self.enter(RENEW)
        self.request = ""


strike: Strike | None = None  # what happens at a gate; None while nothing is armed
passage = Passage()
