"""The judgement on a run: the record in ``verdict.json``, with each broken promise and its evidence."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import msgspec

from lab.errors import ExitStatus
from lab.evidence.loss import Loss, Mechanism
from lab.judge.fact import Example, Fact
from lab.judge.faults import FaultOutcome

VERDICT = "verdict.json"
Evidence = Loss | FaultOutcome | Example
# here an answer contradicts the work that was done: this breaks a promise that every stage makes
CONTRADICTED = (Mechanism.NEVER_DONE, Mechanism.DONE_ALTHOUGH_REFUSED)


class Violation(msgspec.Struct):
    """One broken promise."""

    # the name of the claim
    claim: str
    mechanism: Mechanism
    # the facts that were seen, with net figures
    seen: list[Fact]
    # the first examples; the field ``what`` of each names its kind
    evidence: list[Evidence]
    # whether the stage makes this claim
    claimed: bool = False

    @property
    def breaks_promise(self) -> bool:
        """Return whether the stage has broken its word: it makes this claim, or an answer contradicts the work that was done."""
        return (self.claimed and self.mechanism is not Mechanism.STOPPED_FROM_OUTSIDE) or self.mechanism in CONTRADICTED


SCHEMA = 3


class Verdict(StrEnum):
    """The five verdicts."""

    KEPT = "KEPT"
    BROKEN = "BROKEN"
    ADMITTED = "ADMITTED"
    UNSEEN = "UNSEEN"
    VOID = "VOID"

    @property
    def exit_status(self) -> int:
        """Return the exit status of a command whose run came to this verdict."""
        good = {Verdict.KEPT: ExitStatus.GOOD, Verdict.ADMITTED: ExitStatus.GOOD, Verdict.BROKEN: ExitStatus.BROKEN}
        return good.get(self, ExitStatus.NOTHING_SHOWN)


class Measure(msgspec.Struct):
    """Hold one measure of the scenario's danger."""

    # the least value with which the run shows anything
    needed: int
    # the value in the run
    seen: int

    @property
    def reached(self) -> bool:
        return self.seen >= self.needed


class Judgement(msgspec.Struct, kw_only=True):
    """The content of ``verdict.json``. Lost, duplicated, failed and unknown are four separate figures: none reduces another."""

    schema: int = SCHEMA
    # the name of the run
    run: str
    scenario: str
    stage: str
    # the claim that the scenario tests, by its name
    claim: str
    # whether the stage makes this claim
    claimed: bool
    verdict: Verdict
    # the reasons for the verdict that are not in the broken promises, the danger or the figures below
    why: list[Fact]
    # how many requests the load has on record
    requests: int
    # requests by their outcome
    acknowledged: int
    failed: int
    unknown: int
    # requests with the answer that nothing is left to sell
    sold_out: int = 0
    # how many items there were to sell; None if the counter only grows
    stock: int | None = None
    # how many writes the resource carried out
    writes: int
    # the counter after the run; None if it could not be read
    final: int | None
    # increments that were acknowledged and are not in the counter
    lost: int
    # how many of the lost increments each mechanism took, largest first; they add up to ``lost``
    lost_by: dict[Mechanism, int] = {}
    # writes beyond one for each request
    duplicated: int
    # the broken promises, whether the stage makes the claim or not
    violations: list[Violation]
    # by name, the measures that the run had to reach to show anything
    danger: dict[str, Measure]
    # the waits from asking for the lock to getting it: p50, p99, max
    wait_ms: dict[str, float]
    # commands that the lock's store carried out, by its own count, including commands inside scripts
    commands_per_increment: float
    # commands that the replicas sent to the lock's store, by their own count
    sent_per_increment: float = 0.0
    # processor time of all processes of the run, those of the load included; None if it was not measured
    processor_ms_per_increment: float | None = None
    # from the first request's start to the last one's end
    duration_s: float
    # how many replicas served requests
    replicas: int = 0
    # how many clocks stamped the history, and by how much the order of two of their stamps may be wrong
    clocks: int = 1
    clock_error_ms: float = 0.0
    # by how many parts in a million the rates of two of them differ at most, and by how much that may be wrong; None if unknown
    clock_drift_ppm: tuple[float, float] | None = None

    @property
    def exit_status(self) -> int:
        return self.verdict.exit_status

    @property
    def lost_otherwise(self) -> int:
        """Return how many increments another cause than the tested one lost, although the promise held."""
        return self.lost if self.verdict is Verdict.KEPT else 0

    @property
    def oversold(self) -> int:
        """Return how many items were sold beyond the stock."""
        return 0 if self.stock is None else max(0, self.acknowledged - self.stock)

    @property
    def kept(self) -> int:
        """Return how many acknowledged increments are in the counter.

        A retry writes again for the same request, so a run can lose more writes than it acknowledged requests: the writes
        beyond the acknowledged ones are lost first.
        """
        beyond = max(0, self.writes - self.acknowledged)
        return max(0, self.acknowledged - max(0, self.lost - beyond))

    @property
    def kept_per_s(self) -> float:
        """Return the speed of the run: increments a second that were acknowledged and are in the counter."""
        return round(self.kept / self.duration_s, 1) if self.duration_s else 0.0

    @staticmethod
    def decode(text: bytes | str) -> Judgement:
        """Return the judgement in a ``verdict.json``. Raises msgspec's DecodeError."""
        try:
            content = msgspec.json.decode(text)
        except UnicodeDecodeError as error:
            raise msgspec.DecodeError(str(error)) from None
        schema = content.get("schema", SCHEMA) if isinstance(content, dict) else SCHEMA
        if schema != SCHEMA:
            raise msgspec.ValidationError(f"it has the schema {schema}; this lab reads schema {SCHEMA}")
        return msgspec.convert(content, Judgement)

    @staticmethod
    def load(folder: Path) -> Judgement:
        """Return the judgement in a run folder. Raises OSError, or msgspec's DecodeError."""
        return Judgement.decode((folder / VERDICT).read_bytes())
