"""What breaks a promise about the work: increments destroyed, two inside at once, work done twice, by half or not at all.

Each function takes a row of the table of promises and the findings, and yields the violations of that row's claim.
"""

from __future__ import annotations

from collections.abc import Iterator

from lab.evidence.mechanism import Mechanism
from lab.judge.examples import EXAMPLES, Refusals
from lab.judge.findings import Findings, Overlapped
from lab.judge.losses import Losses
from lab.judge.mechanisms import EXPLANATIONS
from lab.judge.promise import Promise
from lab.judge.violation import Evidence, Violation
from lab.text import counted


def harm(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield each mechanism that breaks this claim: by what was lost, or by two that were inside at once."""
    for one in EXPLANATIONS:
        if one.claim is not (promise.like or promise.claim):
            continue
        losses = findings.losses.get(one.mechanism, Losses())
        overlapped = findings.overlaps.get(one.mechanism, Overlapped())
        seen = []
        if net := findings.net_losses.get(one.mechanism, 0):  # ``losses`` has the gross figures
            seen.append(f"{counted(net, 'increment')} lost")
        elif losses.destroyed:
            seen.append(f"{counted(losses.writes, 'write')} overwrote other increments, and later writes brought them back")
        if overlapped.number:
            seen.append(f"two holders were inside at once {counted(overlapped.number, 'time')}")
        if seen:
            evidence: list[Evidence] = [*losses.examples, *overlapped.examples]
            yield promise.violation("; ".join(seen), evidence[:EXAMPLES], one.mechanism)


def harm_in_one_process(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield each mechanism that broke mutual exclusion within one process."""
    for one in EXPLANATIONS:
        losses, overlapped = findings.losses.get(one.mechanism, Losses()), findings.overlaps.get(one.mechanism, Overlapped())
        if one.claim is not promise.like:
            continue
        writes, inside = losses.writes_in_one_process, overlapped.in_one_process
        seen = [f"requests in the same process overwrote each other's increments {counted(writes, 'time')}"] if writes else []
        seen += [f"two holders in one process were inside at once {counted(inside, 'time')}"] if inside else []
        if seen:
            evidence: list[Evidence] = [*losses.in_one_process, *overlapped.examples_in_one_process]
            yield promise.violation("; ".join(seen), evidence[:EXAMPLES], one.mechanism)


def late_write(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield what was destroyed by writes that arrived when their senders had given them up."""
    delayed = list(promise.faults(findings))
    lost = findings.net_losses.get(Mechanism.WRITE_UNCONFIRMED, 0)
    if delayed and lost:
        yield promise.violation(f"{counted(lost, 'increment')} lost", [*delayed], Mechanism.WRITE_UNCONFIRMED)


def not_once(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield work that was done more than once, and answers that say the contrary of what was done."""
    if findings.duplicated:
        what = f"{counted(findings.duplicated, 'write')} more than one for each request"
        yield promise.violation(what, list(findings.repeated))
    if findings.is_never_written:
        what = f"{counted(findings.unwritten, 'request')} acknowledged without a write"
        yield promise.violation(what, list(findings.first_unwritten), Mechanism.NEVER_DONE)
    if findings.is_never_refused:
        what = f"{counted(findings.refused_and_written, 'request')} refused, and done all the same"
        yield promise.violation(what, list(findings.first_refused_and_written), Mechanism.DONE_ALTHOUGH_REFUSED)


def half_done(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield work of two writes that was done by half, or whose second write replaced the write of a newer holder."""
    if number := findings.measures["half_done"]:
        what = f"{counted(number, 'request')} did the first of two writes, and the second too late or not at all"
        yield promise.violation(what, list(findings.half_done))


def holders_refused(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield holders of the lock that the resource refused."""
    if number := findings.measures["refused"]:
        yield promise.violation(f"{number} holders of the lock were refused", [Refusals(number)])


def reentered(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield requests that entered a lock which a failed request had left behind, before that lock can have ended."""
    if number := findings.measures["reentered"]:
        what = f"{counted(number, 'request')} entered a lock that a failed request had left behind"
        yield promise.violation(what, [*findings.reentered])
