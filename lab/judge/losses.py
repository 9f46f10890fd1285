"""The losses by one mechanism, added up."""

from __future__ import annotations

from dataclasses import dataclass, field

from lab.evidence.loss import Loss
from lab.evidence.mechanism import Mechanism
from lab.judge.examples import EXAMPLES
from lab.judge.grant import Grant


@dataclass
class Losses:
    """What one mechanism destroyed."""

    # increments that its writes destroyed
    destroyed: int = 0
    # increments that its writes brought back, because they had read before the destruction
    restored: int = 0
    # writes that destroyed increments
    writes: int = 0
    # the first of those writes
    examples: list[Loss] = field(default_factory=list)
    # destroyed increments whose culprit and victim were in one process
    destroyed_in_one_process: int = 0
    # writes that destroyed those
    writes_in_one_process: int = 0
    # the first of those
    in_one_process: list[Loss] = field(default_factory=list)

    def add(self, mechanism: Mechanism, culprit: Grant, victim: Grant | None) -> Loss:
        """Add a write that destroyed or restored increments, and return its record."""
        loss = Loss(culprit.destroyed, mechanism, culprit.facts(), None if victim is None else victim.facts())
        if loss.destroyed > 0:
            self.destroyed += loss.destroyed
            self.writes += 1
            if victim is not None and victim.replica == culprit.replica:
                self.destroyed_in_one_process += loss.destroyed
                self.writes_in_one_process += 1
                if len(self.in_one_process) < EXAMPLES:
                    self.in_one_process.append(loss)
            if len(self.examples) < EXAMPLES:
                self.examples.append(loss)
        else:
            self.restored -= loss.destroyed
        return loss
