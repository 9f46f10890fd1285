"""A check: a pure function from what a history says to the violations of one claim, each with its mechanism.

``lab/judge/checks`` holds one for each claim, in a file of the claim's name, as a function ``violations(findings)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from app.lock import Claim
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.mechanisms import MECHANISMS
from lab.judge.violation import Evidence, Violation
from lab.text import counted

PATIENCE_MS = 500
RENEWED_BY_ANOTHER = "another renewed what it did not hold"


Check = Callable[[Findings], Iterator[Violation]]


def losses_against(claim: Claim, findings: Findings) -> Iterator[Violation]:
    """The lost increments whose mechanism breaks this claim."""
    for mechanism in MECHANISMS:
        losses = findings.losses.get(mechanism.name)
        if mechanism.claim is claim and losses is not None and losses.destroyed:
            what = f"{counted(losses.destroyed, 'increment')} destroyed by {counted(losses.writes, 'write')}"
            what += f", {losses.restored} of them brought back by others" if losses.restored else ""
            yield Violation(claim.name, mechanism.name, what, list(losses.examples))


def stuck_after(
    faults: Iterable[FaultOutcome], claim: Claim, mechanism: str, findings: Findings, limit_ms: float | None = None
) -> Iterator[Violation]:
    """Yield a violation for each fault after which no other request got the lock within limit_ms.

    limit_ms: without it, the TTL and half a second. mechanism: the reason, unless another replica renewed the lock.
    """
    limit_ms = findings.run.ttl_ms + PATIENCE_MS if limit_ms is None else limit_ms
    for fault in faults:
        why = RENEWED_BY_ANOTHER if fault.foreign_renewals else mechanism
        about = f"the fault reached {fault.record.request} at {fault.record.replica} ({fault.record.failpoint}), and"
        if fault.idle_ms is None:
            yield Violation(claim.name, why, f"{about} nobody else ever got the lock again", [fault])
        elif fault.idle_ms > limit_ms:
            what = f"{about} it was {fault.idle_ms:.0f} ms until somebody else got the lock"
            yield Violation(claim.name, why, what, [fault])


def waited_too_long(claim: Claim, mechanism: str, findings: Findings, limit_ms: float) -> Iterator[Violation]:
    """Requests that gave up waiting, or got what they waited for only after limit_ms."""
    late = sum(wait_ns > limit_ms * 1e6 for wait_ns in findings.waits_ns)
    if findings.gave_up or late:
        said = [f"{counted(findings.gave_up, 'request')} gave up" if findings.gave_up else ""]
        said += [f"{counted(late, 'request')} waited longer than {limit_ms:.0f} ms" if late else ""]
        waits: list[Evidence] = [*findings.in_vain, *([findings.longest] if findings.longest and late else [])]
        yield Violation(claim.name, mechanism, ", ".join(filter(None, said)), waits)
