"""How a run ended."""

from __future__ import annotations

from enum import Enum


class Ending(Enum):
    """As ``run.json`` has it. All but the first cut the run short."""

    COMPLETE = "complete"
    # Ctrl-C, SIGTERM, or a closed terminal
    INTERRUPTED = "interrupted"
    # the process that supervises the servers was killed: the lab has ended them all
    UNSUPERVISED = "unsupervised"
    # by hand, in Locust's page
    STOPPED = "stopped"
    LOAD_FAILED = "load_failed"
    SERVER_LOST = "server_lost"
    # a part of the evidence could not be written
    NOT_WRITTEN = "not_written"
    FAILED = "failed"

    @property
    def is_interrupt(self) -> bool:
        """Return whether an interrupt ended the run: then nothing is waited for."""
        return self in (Ending.INTERRUPTED, Ending.UNSUPERVISED)
