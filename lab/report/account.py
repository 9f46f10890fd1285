"""The exact account of what a run lost: the writes of each mechanism, what they overwrote, and what later ones brought back."""

from __future__ import annotations

import msgspec

from lab.evidence.loss import Mechanism
from lab.report.run_data import Result


class Line(msgspec.Struct):
    """A mechanism in the exact account."""

    mechanism: Mechanism
    # how many writes overwrote increments; None if that is not on record
    writes: int | None
    # how many increments its writes overwrote; None if that is not on record
    overwritten: int | None
    # how many of them its later writes brought back
    brought_back: int | None
    # overwritten less brought back; below zero if its writes brought back what other mechanisms had overwritten
    net: int


def account(result: Result) -> list[Line]:
    """Return the exact account; the nets add up to the number of lost increments."""
    lines = [
        Line(cause.mechanism, cause.writes or None, cause.destroyed, cause.restored, cause.destroyed - cause.restored)
        for cause in sorted(result.series.causes, key=lambda cause: -cause.destroyed)
    ]
    rest = result.judgement.lost - sum(line.net for line in lines)
    return lines + ([Line(Mechanism.WRITE_UNCONFIRMED, None, None, None, rest)] if rest else [])
