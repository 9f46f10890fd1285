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
from lab.judge.fact import Fact
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


# answers that say the contrary of what was done: no stage need promise it
CONTRADICTED = (Mechanism.NEVER_DONE, Mechanism.DONE_ALTHOUGH_REFUSED)


class Violation(msgspec.Struct):
    """One broken promise."""

    # the name of the claim
    claim: str
    mechanism: Mechanism
    # what was seen, with net figures
    seen: list[Fact]
    # the first examples; each says in its field ``what`` which kind it is
    evidence: list[Evidence]
    # whether the stage makes this claim
    claimed: bool = False

    @property
    def breaks_promise(self) -> bool:
        """Return whether the stage has broken its word: it claims this, or its answer says the contrary of what was done."""
        return (self.claimed and self.mechanism is not Mechanism.STOPPED_FROM_OUTSIDE) or self.mechanism in CONTRADICTED
