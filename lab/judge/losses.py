"""What each mechanism destroyed, and its share of the increments that are lost in the end. The shares add up to that number.

The figures of ``Losses`` are gross: what the writes of a mechanism destroyed, and what they restored. A reader wants the net:
how many of the missing increments each mechanism took.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lab.evidence.loss import Loss, Mechanism
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


def net_losses(lost: int, losses: Mapping[Mechanism, Losses]) -> dict[Mechanism, int]:
    """Return the net loss of each mechanism, largest first; every share is above zero, and their sum is ``lost``.

    Writes without a confirmation are attributed to no mechanism, so what they destroyed is a share of its own. A mechanism that
    brought back more than it destroyed has undone losses of others, and the evidence does not name whose: the largest
    shares are reduced by it.
    """
    shares = {mechanism: one.destroyed - one.restored for mechanism, one in losses.items()}
    shares[Mechanism.WRITE_UNCONFIRMED] = lost - sum(shares.values())
    surplus = -sum(share for share in shares.values() if share < 0)
    ordered = sorted(((name, share) for name, share in shares.items() if share > 0), key=lambda item: -item[1])
    net = {}
    for name, share in ordered:
        taken = min(share, surplus)
        surplus -= taken
        if share > taken:
            net[name] = share - taken
    return dict(sorted(net.items(), key=lambda item: -item[1]))
