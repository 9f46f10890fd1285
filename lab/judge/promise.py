"""Define a promise: how one claim is judged. The table of all promises is ``lab/judge/promises.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import ceil

from app.lock import Claim
from lab.evidence.fault_record import Effect
from lab.evidence.loss import Mechanism
from lab.judge.fact import Code, Fact
from lab.judge.faults import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.judgement import Evidence, Violation

HANDOVER_MS = 60  # the most that a sound lock needs to hand over on an idle machine: a poll of its waiters, and some round trips
FEW = 0.1  # the share of the requests that may be late, or overtaken, on a busy machine


@dataclass(frozen=True, kw_only=True)
class Bound:
    """The limits within which a promise is kept. A row of the table sets only the limits that it needs."""

    # the longest time: a number of TTLs, plus a number of wait limits of a request, plus milliseconds
    ttls: float = 0
    waits: float = 0
    ms: float = 0
    # the limit that no more than FEW of the requests may exceed, if most must be within ``ms``
    tail_ms: float = 0
    # how often a request may be overtaken
    times: int = 0
    # the least share of the requests that must be served
    share: float = 0

    def wider(self, slowness: float) -> Bound:
        """Return the bound for a machine that is ``slowness`` times slower: a hand-over takes longer, and a TTL does not."""
        more = slowness - 1
        later_ms = max(self.ms, HANDOVER_MS) * more if self.ttls or self.ms else 0
        longer = replace(self, waits=self.waits * slowness, tail_ms=self.tail_ms * slowness, times=int(self.times * slowness))
        return replace(longer, ms=self.ms + later_ms)

    def later(self, by_ms: float) -> Bound:
        """Return the bound with times that are longer by ``by_ms`` milliseconds."""
        return replace(self, ms=self.ms + by_ms, tail_ms=self.tail_ms + by_ms)

    def in_ms(self, ttl_ms: float, wait_ms: float = 0) -> float:
        """Return the longest time in milliseconds, for this TTL and this wait limit of a request."""
        return self.ttls * ttl_ms + self.waits * wait_ms + self.ms


@dataclass(frozen=True)
class Promise:
    """One row of the table of promises."""

    claim: Claim
    # yields the violations of the claim, for any scenario: a function of violations.py
    broken: Callable[[Promise, Findings], Iterator[Violation]]
    # the mechanism of its violations; None if the function, or lab/judge/mechanisms.py, has it
    mechanism: Mechanism | None = None
    # the claim whose mechanisms break this one; None: its own
    like: Claim | None = None
    # after which faults the promise is judged: faults with such an effect, in ``phases`` of a request and not in ``but_phases``
    effects: tuple[Effect, ...] = tuple(Effect)
    phases: tuple[str, ...] = ()
    but_phases: tuple[str, ...] = ()
    bound: Bound = Bound()
    # whether the bound is compared with stamps of several replicas
    across_replicas: bool = False
    # whether it is judged only if the scenario tests it
    only_tested: bool = False
    # a further condition on the run
    only_if: Callable[[Findings], bool] = lambda findings: True
    # returns why a run without a violation does not show that the claim holds; None if it shows it
    blind: Callable[[Promise, Findings], Fact | None] = lambda promise, findings: None
    # how many times slower the machine may have made the lock: above 1 only if other programs took most of its processors
    slowness: float = 1

    def violations(self, findings: Findings, is_claimed: bool = False) -> Iterator[Violation]:
        """Yield how the findings break the claim, a violation for each mechanism.

        is_claimed: whether the stage claims it. Then the bound is wider on a busy machine, because a violation accuses the lock.
        """
        is_asked = not self.only_tested or findings.run.tests == self.claim.name
        if is_asked and self.only_if(findings):
            slowness = findings.run.slowness if is_claimed else 1
            judged = self if slowness == 1 else replace(self, bound=self.bound.wider(slowness), slowness=slowness)
            if error_ms := self._error_ms(findings):
                judged = replace(judged, bound=judged.bound.later(error_ms))
            yield from judged.broken(judged, findings)

    def undecided(self, findings: Findings) -> Fact | None:
        """Return why a run without a violation does not show that the claim holds; None if it shows it."""
        if findings.run.slowness > 1 and any(self.violations(findings)):
            return Fact(Code.CROWDED, findings.run.others_percent)
        if error_ms := self._error_ms(findings):
            narrow = replace(self, bound=self.bound.later(-2 * error_ms))  # twice, because ``violations`` adds the error once
            if any(narrow.violations(findings)):
                return Fact(Code.WITHIN_CLOCK_ERROR, ms=ceil(error_ms))
        return self.blind(self, findings)

    def _error_ms(self, findings: Findings) -> float:
        """Return by how much a time between two replicas may be wrong, in milliseconds; 0 if the bound needs no such time."""
        return findings.run.clocks.worst_ns / 1e6 if self.across_replicas else 0

    def faults(self, findings: Findings) -> Iterator[FaultOutcome]:
        """Yield the faults after which the promise is judged."""
        for fault in findings.faults:
            phase = fault.record.phase
            if fault.record.effect in self.effects and phase not in self.but_phases and (phase in self.phases or not self.phases):
                yield fault

    def bound_ms(self, findings: Findings) -> float:
        """Return the longest time in this run, in milliseconds."""
        return self.bound.in_ms(findings.run.ttl_ms, findings.run.wait_ms)

    def violation(self, seen: Iterable[Fact], evidence: list[Evidence], mechanism: Mechanism | None = None) -> Violation:
        """Return a violation of this claim. mechanism: the row's if None. Raises TypeError if neither names one."""
        because = mechanism or self.mechanism
        if because is None:
            raise TypeError(f"the row of {self.claim.name} names no mechanism, and its function gives none")
        return Violation(self.claim.name, because, list(seen), evidence)
