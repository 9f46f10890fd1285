"""A lost increment that has to be explained: the two grants, and what the evidence knows of that time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lab.evidence.fault_effect import Effect
from lab.evidence.fault_record import FaultRecord
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.grant import Grant
from lab.judge.key_history import KeyHistory


@dataclass(slots=True)  # and not frozen, which would make it three times as slow: a run can have a million of them
class LostIncrement:
    """One lost increment, or several that were lost by one write."""

    # the grant whose write destroyed it
    culprit: Grant
    # the grant whose value was overwritten; None where the evidence does not name it
    victim: Grant | None
    # whether the stage locks outside the process, and whether that store writes to disk
    has_store: bool
    store_persists: bool
    keys: KeyHistory
    # the grants whose release was around that time
    releases: Sequence[Grant]
    # the faults of the run
    faults: Sequence[FaultOutcome]

    @property
    def both(self) -> tuple[Grant, ...]:
        """Return the culprit and, if it is known, the victim."""
        return (self.culprit, self.victim) if self.victim else (self.culprit,)

    @property
    def is_across_replicas(self) -> bool:
        """Return whether the two were in different replicas, or may have been."""
        return self.victim is None or self.victim.replica != self.culprit.replica

    @property
    def first_asked_ns(self) -> int:
        """Return when the earlier of the two asked for the lock."""
        return min(grant.asked_ns for grant in self.both)

    @property
    def first_got_ns(self) -> int:
        """Return when the earlier of the two got the lock."""
        return min(grant.got_ns for grant in self.both)

    @property
    def second_got_ns(self) -> int:
        """Return when the later of the two got the lock too: by then the first lock had ended, whatever ended it."""
        return max(grant.got_ns for grant in self.both)

    def records(self, effect: Effect) -> Iterator[FaultRecord]:
        """Return the records of the faults that had this effect."""
        return (fault.record for fault in self.faults if fault.record.effect is effect)
