"""A check: a pure function from what a history says to the violations of one claim, each with its mechanism.

``lab/checks`` holds one for each claim, in a file of the claim's name, as a function ``violations(findings)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from app.lock import Claim
from lab.findings import Findings
from lab.mechanism import MECHANISMS


class Violation(msgspec.Struct):
    """What was promised (the claim's name), how it was broken, what was seen, and the first of the evidence."""

    claim: str
    mechanism: str
    what: str
    evidence: list[dict[str, Any]]


Check = Callable[[Findings], Iterator[Violation]]


def losses_against(claim: Claim, findings: Findings) -> Iterator[Violation]:
    """The lost increments whose mechanism breaks this claim."""
    for mechanism in MECHANISMS:
        losses = findings.losses.get(mechanism.name)
        if mechanism.claim is claim and losses is not None and losses.destroyed:
            what = f"{counted(losses.destroyed, 'increment')} destroyed by {counted(losses.writes, 'write')}"
            what += f", {losses.restored} of them brought back by others" if losses.restored else ""
            yield Violation(claim.name, mechanism.name, what, losses.examples)


def counted(number: int, noun: str) -> str:
    """``1 write``, ``2 writes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
