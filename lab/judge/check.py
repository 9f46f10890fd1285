"""A check: a pure function from the findings to the violations of one claim, each with its mechanism.

``lab/judge/checks`` holds one file for each claim, with the name of the claim and a function ``violations(findings)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from app.lock import Claim
from lab.judge.examples import EXAMPLES
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.findings import Findings, Overlapped
from lab.judge.losses import Losses
from lab.judge.mechanisms import MECHANISMS, Mechanism
from lab.judge.violation import Evidence, Violation
from lab.text import counted

PATIENCE_MS = 500  # how much later than its TTL a lock may be free again
OVERTAKEN_LIMIT, OVERTAKEN_SHARE = 4, 0.1  # in a queue no request is overtaken; a busy machine holds up some
STARVED = 5  # times the number of users: no machine holds up one request for so long
RENEWED_BY_ANOTHER = "another renewed what it did not hold"


Check = Callable[[Findings], Iterator[Violation]]


def harm_against(claim: Claim, findings: Findings, like: Claim | None = None) -> Iterator[Violation]:
    """Yield a violation for each mechanism that breaks this claim: by what was lost, or by two that were inside at once.

    like: the claim whose mechanisms break this one as well.
    """
    for mechanism in MECHANISMS:
        if mechanism.claim is (like or claim):
            losses, overlapped = findings.losses.get(mechanism.name), findings.overlaps.get(mechanism.name)
            net = findings.net_losses.get(mechanism.name, 0)
            yield from _harm(claim, mechanism, losses or Losses(), net, overlapped or Overlapped())


def harm_in_one_process(findings: Findings) -> Iterator[Violation]:
    """Yield a violation for each mechanism that broke mutual exclusion within one process."""
    for mechanism in MECHANISMS:
        losses, overlapped = findings.losses.get(mechanism.name, Losses()), findings.overlaps.get(mechanism.name, Overlapped())
        if mechanism.claim is not Claim.exclusive:
            continue
        writes, inside = losses.writes_in_one_process, overlapped.in_one_process
        seen = [f"requests in the same process overwrote each other's increments {counted(writes, 'time')}"] if writes else []
        seen += [f"two holders in one process were inside at once {counted(inside, 'time')}"] if inside else []
        if seen:
            evidence: list[Evidence] = [*losses.in_one_process, *overlapped.examples_in_one_process]
            yield Violation(Claim.exclusive_in_process.name, mechanism.name, "; ".join(seen), evidence[:EXAMPLES])


def _harm(claim: Claim, mechanism: Mechanism, losses: Losses, net: int, overlapped: Overlapped) -> Iterator[Violation]:
    """Yield the violation by one mechanism. net: how many of the lost increments it took; ``losses`` has its gross figures."""
    seen = []
    if net:
        seen.append(f"{counted(net, 'increment')} lost")
    elif losses.destroyed:
        seen.append(f"{counted(losses.writes, 'write')} overwrote other increments, and later writes brought them back")
    if overlapped.number:
        seen.append(f"two holders were inside at once {counted(overlapped.number, 'time')}")
    if seen:
        evidence: list[Evidence] = [*losses.examples, *overlapped.examples]
        yield Violation(claim.name, mechanism.name, "; ".join(seen), evidence[:EXAMPLES])


def stuck_after(
    faults: Iterable[FaultOutcome],
    claim: Claim,
    mechanism: str,
    findings: Findings,
    limit_ms: float | None = None,
    *,
    to_the_end: bool = False,
) -> Iterator[Violation]:
    """Yield a violation for each fault after which no other request got the lock, and wrote, within limit_ms.

    limit_ms: without it, the TTL and half a second. mechanism: the reason, unless another replica renewed the lock. to_the_end:
    whether the lock must not be free for longer than that while a request waits, in all of the rest of the run: in a queue, those
    who stood before an orphan still get the lock. Nothing is said of a lock that was free for so long before, with waiters.
    """
    limit_ms = findings.run.ttl_ms + PATIENCE_MS if limit_ms is None else limit_ms
    for fault in faults:
        if serves_next_to_nobody(fault, findings, limit_ms):
            continue
        why = RENEWED_BY_ANOTHER if fault.foreign_renewals else mechanism
        about = f"the fault reached {fault.record.request} at {fault.record.replica} ({fault.record.failpoint}), and"
        after = (idle for idle in findings.idle_times if to_the_end and idle.releasing_ns > fault.record.began_ns)
        later = next((idle for idle in after if idle.ms > limit_ms), None)
        if fault.idle_ms is None:
            yield Violation(claim.name, why, f"{about} no other request ever got the lock again", [fault])
        elif fault.idle_ms > limit_ms:
            what = f"{about} it was {fault.idle_ms:.0f} ms until another request got the lock"
            yield Violation(claim.name, why, what, [fault])
        elif later is not None:
            what = f"{about} later the lock was free for {later.ms:.0f} ms while requests waited for it"
            yield Violation(claim.name, why, what, [fault, later])


def serves_next_to_nobody(fault: FaultOutcome, findings: Findings, limit_ms: float) -> bool:
    """Return whether the lock was often free for so long before the fault, with waiters: then it shows nothing after it."""
    before = [idle.ms for idle in findings.idle_times if idle.got_ns < fault.record.at_ns]
    return bool(before) and sorted(before)[len(before) // 2] > limit_ms / 2


def overtaken_often(claim: Claim, mechanism: str, findings: Findings) -> Iterator[Violation]:
    """Yield a violation if many requests were overtaken by later ones, or one again and again, where this claim is tested."""
    worst = findings.overtaken
    if findings.run.tests != claim.name or worst is None:
        return
    often = sum(times > OVERTAKEN_LIMIT for times in findings.overtakes)
    starved = worst.overtaken > STARVED * findings.run.users > 0
    if often > OVERTAKEN_SHARE * len(findings.overtakes) or starved:
        what = (
            f"{often} of {counted(len(findings.overtakes), 'request')} were overtaken more than {OVERTAKEN_LIMIT} times "
            f"by requests that had asked later, one of them {counted(worst.overtaken, 'time')}"
        )
        yield Violation(claim.name, mechanism, what, [worst])


def waited_too_long(claim: Claim, mechanism: str, findings: Findings, limit_ms: float) -> Iterator[Violation]:
    """Yield a violation if requests gave up waiting, or got the lock only after limit_ms."""
    late = sum(wait_ns > limit_ms * 1e6 for wait_ns in findings.waits_ns)
    if findings.gave_up or late:
        seen = [f"{counted(findings.gave_up, 'request')} gave up" if findings.gave_up else ""]
        seen += [f"{counted(late, 'request')} waited longer than {limit_ms:.0f} ms" if late else ""]
        waits: list[Evidence] = [*findings.in_vain, *([findings.longest] if findings.longest and late else [])]
        yield Violation(claim.name, mechanism, ", ".join(filter(None, seen)), waits)
