"""A promise: how one claim is judged. The table of all promises is ``lab/judge/promises.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from app.lock import Claim
from lab.evidence.fault_record import Effect
from lab.evidence.loss import Mechanism
from lab.judge.fact import Code, Fact
from lab.judge.faults import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.judgement import Evidence, Violation

HANDOVER_MS = 60  # what a sound lock needs at most to hand over, on an idle machine: a poll of its waiters, and some round trips
FEW = 0.1  # of the requests: on a busy machine so many may be late, or overtaken


@dataclass(frozen=True, kw_only=True)
class Bound:
    """What is still within a promise: the figures that a row of the table needs, and no others."""

    # how long it may last: so many TTLs, so many times what a request is ready to wait, and so many milliseconds
    ttls: float = 0
    waits: float = 0
    ms: float = 0
    # where most must be within ``ms``: what no more than FEW may exceed
    tail_ms: float = 0
    # how often a request may be overtaken
    times: int = 0
    # the least part of the requests that must be served
    share: float = 0

    def wider(self, slowness: float) -> Bound:
        """Return the bound where the machine is so many times slower: a hand-over takes longer, and a TTL does not."""
        more = slowness - 1
        later_ms = max(self.ms, HANDOVER_MS) * more if self.ttls or self.ms else 0
        longer = replace(self, waits=self.waits * slowness, tail_ms=self.tail_ms * slowness, times=int(self.times * slowness))
        return replace(longer, ms=self.ms + later_ms)

    def in_ms(self, ttl_ms: float, wait_ms: float = 0) -> float:
        """Return how long it may last, for this TTL and this readiness to wait."""
        return self.ttls * ttl_ms + self.waits * wait_ms + self.ms


@dataclass(frozen=True)
class Promise:
    """One row of the table."""

    claim: Claim
    # yields what breaks the claim, whichever scenario was run: a function of violations.py
    broken: Callable[[Promise, Findings], Iterator[Violation]]
    # the reason of its violations; None where the function has the reasons, or lab/judge/mechanisms.py
    mechanism: Mechanism | None = None
    # the claim whose mechanisms break this one; None: its own
    like: Claim | None = None
    # the faults after which the promise is looked at: those with such an effect, in these phases of a request and not in those
    effects: tuple[Effect, ...] = tuple(Effect)
    phases: tuple[str, ...] = ()
    but_phases: tuple[str, ...] = ()
    bound: Bound = Bound()
    # whether it is judged only where the scenario tests it
    only_tested: bool = False
    # what must be true of the run as well
    only_if: Callable[[Findings], bool] = lambda findings: True
    # returns why a run that does not break the claim shows nothing of it; None where it does
    blind: Callable[[Promise, Findings], Fact | None] = lambda promise, findings: None
    # how many times slower a machine may have made the lock: more than once only where others took most of its processors
    slowness: float = 1

    def violations(self, findings: Findings, is_claimed: bool = False) -> Iterator[Violation]:
        """Yield how the findings break the claim, a violation for each mechanism.

        is_claimed: whether that is an accusation. Then the machine, and not the lock, may have been late, and the bound is wider.
        """
        is_asked = not self.only_tested or findings.run.tests == self.claim.name
        if is_asked and self.only_if(findings):
            slowness = findings.run.slowness if is_claimed else 1
            judged = self if slowness == 1 else replace(self, bound=self.bound.wider(slowness), slowness=slowness)
            yield from judged.broken(judged, findings)

    def undecided(self, findings: Findings) -> Fact | None:
        """Return why a run that does not break the claim shows nothing of it; None where it does."""
        if findings.run.slowness > 1 and any(self.violations(findings)):
            return Fact(Code.CROWDED, findings.run.others_percent)
        return self.blind(self, findings)

    def faults(self, findings: Findings) -> Iterator[FaultOutcome]:
        """Yield the faults after which the promise is looked at."""
        for fault in findings.faults:
            phase = fault.record.phase
            if fault.record.effect in self.effects and phase not in self.but_phases and (phase in self.phases or not self.phases):
                yield fault

    def bound_ms(self, findings: Findings) -> float:
        """Return how long it may last in this run."""
        return self.bound.in_ms(findings.run.ttl_ms, findings.run.wait_ms)

    def violation(self, seen: Iterable[Fact], evidence: list[Evidence], mechanism: Mechanism | None = None) -> Violation:
        """Return a violation of this claim. mechanism: without it, that of the row."""
        because = mechanism or self.mechanism
        if because is None:
            raise TypeError(f"the row of {self.claim.name} names no mechanism, and its function gives none")
        return Violation(self.claim.name, because, list(seen), evidence)
