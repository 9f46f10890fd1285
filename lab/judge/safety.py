"""What breaks a promise about the work: increments destroyed, two inside at once, work done twice, by half or not at all.

Each function takes a row of the table of promises and the findings, and yields the violations of that row's claim.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.evidence.loss import Mechanism
from lab.judge.examples import EXAMPLES, Refusals
from lab.judge.fact import Code, Fact
from lab.judge.findings import Findings, Overlapped
from lab.judge.judgement import Evidence, Violation
from lab.judge.losses import Losses
from lab.judge.mechanisms import EXPLANATIONS
from lab.judge.promise import Promise


def harm(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield each mechanism that breaks this claim: by what was lost, or by two that were inside at once."""
    for one in EXPLANATIONS:
        if one.claim is not (promise.like or promise.claim):
            continue
        losses = findings.losses.get(one.mechanism, Losses())
        overlapped = findings.overlaps.get(one.mechanism, Overlapped())
        seen = []
        if net := findings.net_losses.get(one.mechanism, 0):  # ``losses`` has the gross figures
            seen.append(Fact(Code.LOST, net))
        elif losses.destroyed:
            seen.append(Fact(Code.OVERWROTE_AND_RESTORED, losses.writes))
        if overlapped.number:
            seen.append(Fact(Code.TWO_INSIDE, overlapped.number))
        if seen:
            evidence: list[Evidence] = [*losses.examples, *overlapped.examples]
            yield promise.violation(seen, evidence[:EXAMPLES], one.mechanism)


def harm_in_one_process(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield each mechanism that broke mutual exclusion within one process."""
    for one in EXPLANATIONS:
        losses, overlapped = findings.losses.get(one.mechanism, Losses()), findings.overlaps.get(one.mechanism, Overlapped())
        if one.claim is not promise.like:
            continue
        writes, inside = losses.writes_in_one_process, overlapped.in_one_process
        seen = [Fact(Code.OVERWROTE_IN_PROCESS, writes)] if writes else []
        seen += [Fact(Code.TWO_INSIDE_IN_PROCESS, inside)] if inside else []
        if seen:
            evidence: list[Evidence] = [*losses.in_one_process, *overlapped.examples_in_one_process]
            yield promise.violation(seen, evidence[:EXAMPLES], one.mechanism)


def late_write(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield what was destroyed by writes that arrived when their senders had given them up."""
    delayed = list(promise.faults(findings))
    lost = findings.net_losses.get(Mechanism.WRITE_UNCONFIRMED, 0)
    if delayed and lost:
        yield promise.violation([Fact(Code.LOST, lost)], [*delayed], Mechanism.WRITE_UNCONFIRMED)


def not_once(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield work that was done more than once, and answers that say the contrary of what was done."""
    if findings.duplicated:
        yield promise.violation([Fact(Code.WROTE_AGAIN, findings.duplicated)], list(findings.repeated))
    if findings.is_never_written:
        seen = [Fact(Code.NOT_WRITTEN, findings.unwritten)]
        yield promise.violation(seen, list(findings.first_unwritten), Mechanism.NEVER_DONE)
    if findings.is_never_refused:
        seen = [Fact(Code.REFUSED_AND_DONE, findings.refused_and_written)]
        yield promise.violation(seen, list(findings.first_refused_and_written), Mechanism.DONE_ALTHOUGH_REFUSED)


def half_done(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield work of two writes that was done by half, or whose second write replaced the write of a newer holder."""
    if number := findings.measures["half_done"]:
        yield promise.violation([Fact(Code.HALF_DONE, number)], list(findings.half_done))


def holders_refused(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield holders of the lock that the resource refused."""
    if number := findings.measures["refused"]:
        yield promise.violation([Fact(Code.HOLDERS_REFUSED, number)], [Refusals(number)])


def reentered(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield requests that entered a lock which a failed request had left behind, before that lock can have ended."""
    if number := findings.measures["reentered"]:
        yield promise.violation([Fact(Code.REENTERED, number)], [*findings.reentered])
