"""A broken promise: which claim, by which mechanism, and the evidence."""

from __future__ import annotations

import msgspec

from lab.evidence.loss import Loss
from lab.evidence.mechanism import Mechanism
from lab.judge.examples import (
    FreedEarly,
    HalfDone,
    Idle,
    Overtaken,
    Reentered,
    Refusals,
    RefusedAndWritten,
    Repeated,
    TwoInside,
    Unwritten,
    Wait,
)
from lab.judge.fault_outcome import FaultOutcome

Evidence = (
    Loss
    | FaultOutcome
    | Wait
    | Overtaken
    | Idle
    | Repeated
    | HalfDone
    | FreedEarly
    | Reentered
    | Refusals
    | RefusedAndWritten
    | TwoInside
    | Unwritten
)


class Violation(msgspec.Struct):
    """One broken promise."""

    # the name of the claim
    claim: str
    mechanism: Mechanism
    # what was seen, as a part of a sentence
    what: str
    # the first examples; each says in its field ``what`` which kind it is
    evidence: list[Evidence]
