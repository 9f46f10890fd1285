"""Each mechanism's share of the increments that are lost in the end. The shares add up to exactly that number.

A mechanism's figures are gross: what its writes destroyed, and what they restored (``lab/judge/losses.py``). A reader wants
the net: how many of the missing increments each mechanism took.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from lab.evidence.mechanism import Mechanism


class Gross(Protocol):
    """The gross figures of one mechanism."""

    @property
    def destroyed(self) -> int: ...

    @property
    def restored(self) -> int: ...


def net_losses(lost: int, losses: Mapping[Mechanism, Gross]) -> dict[Mechanism, int]:
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
