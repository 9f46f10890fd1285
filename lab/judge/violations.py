"""Find violations: of safety, work destroyed, repeated, done by half or not at all; of liveness, waiters not served.

Each function takes a row of the table of promises and the findings, and yields the violations of that row's claim.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import asdict

from app.lock import Claim
from lab.evidence.history import Outcome
from lab.evidence.loss import Mechanism
from lab.judge.fact import EXAMPLES, Code, Fact, FreedEarly, Refusals
from lab.judge.faults import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.judgement import Evidence, Violation
from lab.judge.losses import Conflicts, Losses
from lab.judge.mechanisms import EXPLANATIONS
from lab.judge.promise import FEW, Promise

STARVED = 5  # times the number of users: no machine delays a request until so many have overtaken it
STAYS_MS = 250  # the least bound for a lock that stays taken: a waiter may sleep that long between two polls
PATIENT_MS = 5000  # a request that waits for less may give up because the lock is held


def harm(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield each mechanism that breaks this claim, by lost increments or by two grants inside at once."""
    for mechanism, losses, overlaps in _conflicts(promise.like or promise.claim, findings):
        seen = []
        if net := findings.net_losses.get(mechanism, 0):  # ``losses`` has the gross figures
            seen.append(Fact(Code.LOST, net))
        elif losses.destroyed:
            seen.append(Fact(Code.OVERWROTE_AND_RESTORED, losses.number))
        if overlaps.number:
            seen.append(Fact(Code.TWO_INSIDE, overlaps.number))
        if seen:
            evidence: list[Evidence] = [*losses.examples, *overlaps.examples]
            yield promise.violation(seen, evidence[:EXAMPLES], mechanism)


def harm_in_one_process(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield each mechanism that broke mutual exclusion within one process."""
    for mechanism, losses, overlaps in _conflicts(promise.like, findings):
        writes, inside = losses.number_in_one_process, overlaps.number_in_one_process
        seen = [Fact(Code.OVERWROTE_IN_PROCESS, writes)] if writes else []
        seen += [Fact(Code.TWO_INSIDE_IN_PROCESS, inside)] if inside else []
        if seen:
            evidence: list[Evidence] = [*losses.examples_in_one_process, *overlaps.examples_in_one_process]
            yield promise.violation(seen, evidence[:EXAMPLES], mechanism)


def _conflicts(claim: Claim | None, findings: Findings) -> Iterator[tuple[Mechanism, Losses, Conflicts]]:
    """Yield each mechanism that breaks a claim, with its losses and its overlaps."""
    for mechanism in (explanation.mechanism for explanation in EXPLANATIONS if explanation.claim is claim):
        yield mechanism, findings.losses.get(mechanism, Losses()), findings.overlaps.get(mechanism, Conflicts())


def late_write(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield the losses by writes that arrived after their senders had given up."""
    delayed = list(promise.faults(findings))
    lost = findings.net_losses.get(Mechanism.WRITE_UNCONFIRMED, 0)
    if delayed and lost:
        yield promise.violation([Fact(Code.LOST, lost)], [*delayed], Mechanism.WRITE_UNCONFIRMED)


def not_once(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield work that was done more than once, and answers that contradict the work that was done."""
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


def stuck(promise: Promise, findings: Findings, to_the_end: bool = False, unless_reentered: bool = False) -> Iterator[Violation]:
    """Yield each fault after which no other request got the lock, and wrote, in time.

    The mechanism is the row's, unless another replica renewed the lock. A lock that had waiters and was free for as long before
    the fault is not judged. to_the_end: whether the lock must also not be free for longer than the bound, while a request waits,
    at any later time: in a queue, the waiters before an orphan still get the lock. unless_reentered: whether a fault is skipped
    if others re-entered the lock: each of them restarted its TTL, and broke ``reenters_only_its_own``.
    """
    bound_ms = promise.bound_ms(findings)
    for fault in promise.faults(findings):
        if serves_next_to_nobody(fault, findings, bound_ms) or (unless_reentered and fault.reentered):
            continue
        why = Mechanism.RENEWED_BY_ANOTHER if fault.foreign_renewals else promise.mechanism
        after = (idle for idle in findings.idle_times if to_the_end and idle.releasing_ns > fault.record.began_ns)
        later = next((idle for idle in after if idle.ms > bound_ms), None)
        if is_missed(fault, findings, bound_ms):
            code = Code.NOBODY_AFTER_FAULT if fault.idle_ms is None else Code.LATE_AFTER_FAULT
            yield promise.violation([_fault_fact(fault, code, fault.idle_ms or 0)], [fault], why)
        elif later is not None:
            yield promise.violation([_fault_fact(fault, Code.FREE_LATER, later.ms)], [fault, later], why)


def is_late(fault: FaultOutcome, bound_ms: float) -> bool:
    """Return whether no other request got the lock within the bound after a fault."""
    return fault.idle_ms is None or fault.idle_ms > bound_ms


def is_missed(fault: FaultOutcome, findings: Findings, bound_ms: float) -> bool:
    """Return whether the lock came late, although a request wanted it: without one, a late lock shows nothing."""
    shown = (onlookers.show_taken(bound_ms) for onlookers in findings.onlookers if onlookers.fault is fault)
    return is_late(fault, bound_ms) and any(shown)


def nobody_asked(promise: Promise, findings: Findings) -> Fact | None:
    """Return the fact that after each fault of this promise the lock came late and no request wanted it; None if not."""
    bound_ms, faults = promise.bound_ms(findings), list(promise.faults(findings))
    unwanted = [is_late(fault, bound_ms) and not is_missed(fault, findings, bound_ms) for fault in faults]
    return Fact(Code.NOBODY_ASKED) if unwanted and all(unwanted) else None


def overloaded(_: Promise, findings: Findings) -> Fact | None:
    """Return the fact that more requests came than holders can serve one by one; None if not, or if none was refused."""
    refused = findings.gave_up if findings.is_overloaded else 0
    return Fact(Code.OVERLOADED, refused, of=findings.requests) if refused else None


def _fault_fact(fault: FaultOutcome, code: Code, ms: float) -> Fact:
    record = fault.record
    return Fact(code, ms=round(ms), request=record.request, replica=record.replica, failpoint=record.failpoint)


def serves_next_to_nobody(fault: FaultOutcome, findings: Findings, bound_ms: float) -> bool:
    """Return whether half of the waits for a free lock took half the bound before the fault: then a late grant shows nothing."""
    before = [idle.ms for idle in findings.idle_times if idle.got_ns < fault.record.at_ns]
    return bool(before) and sorted(before)[len(before) // 2] > bound_ms / 2


def nobody_meanwhile(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield each stop of a server during which no request that asked got the lock, or one did and then too few others.

    An election takes time, so requests that asked before its end do not count. On a slow machine it may last until the recovery.
    """
    for onlookers in findings.onlookers:
        fault = onlookers.fault
        is_wanted = any(wait.asked_ns < fault.record.recovering_ns for wait in onlookers.waits)
        may_be_late = promise.slowness > 1 and not fault.granted_meanwhile
        enough = promise.bound.share / promise.slowness * fault.asked_again
        is_served = fault.granted_meanwhile and fault.granted_again >= enough
        if is_wanted and not may_be_late and not is_served:
            seen = [Fact(Code.NOBODY_MEANWHILE, fault.granted_meanwhile, of=fault.asked, failpoint=fault.record.failpoint)]
            mechanism = Mechanism.ONE_STORE_GONE if findings.run.has_votes else Mechanism.ONLY_STORE_GONE
            yield promise.violation(seen, [fault], mechanism)


def somebody_meanwhile(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield each fault that stopped most of the servers, and during which a request got the lock from the remaining servers."""
    for fault in findings.faults:
        if fault.granted_meanwhile:
            yield promise.violation([Fact(Code.SOMEBODY_MEANWHILE, fault.granted_meanwhile)], [fault])


def overtaken(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield a violation if many requests were overtaken by later ones, or one of them again and again."""
    worst, bound = findings.overtaken, promise.bound.times
    if worst is None:
        return
    often = sum(times > bound for times in findings.overtakes)
    starved = worst.overtaken > STARVED * findings.run.users > 0
    if often > FEW * len(findings.overtakes) or starved:
        seen = Fact(Code.OVERTAKEN, often, of=len(findings.overtakes), times=bound, most=worst.overtaken)
        yield promise.violation([seen], [worst])


def waited_too_long(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield a violation if requests gave up, or waited longer than the bound, although holders did not work all the time."""
    if findings.is_overloaded:
        return
    bound_ms = promise.bound_ms(findings)
    late = sum(wait_ns > bound_ms * 1e6 for wait_ns in findings.waits_ns)
    gave_up = findings.gave_up - _waited_to_the_end(findings) * (promise.slowness > 1)
    if gave_up or late:
        seen = [Fact(Code.GAVE_UP, gave_up)] if gave_up else []
        seen += [Fact(Code.WAITED_TOO_LONG, late, ms=round(bound_ms))] if late else []
        waits: list[Evidence] = [*findings.in_vain, *([findings.longest] if findings.longest and late else [])]
        yield promise.violation(seen, waits)


def _waited_to_the_end(findings: Findings) -> int:
    """Return how many requests got no lock although they waited for all of their time."""
    return sum(wait_ns > findings.run.patience_ns for wait_ns in findings.in_vain_ns)


def slow_try(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield a violation if requests were kept waiting for longer than they wanted to, with or without the lock in the end."""
    waits_ms = sorted(wait_ns / 1e6 for wait_ns in (*findings.in_vain_ns, *findings.waits_ns))
    wanted_ms = findings.run.wait_ms  # 0 in the scenario that tests this claim
    median_ms, tail_ms = waits_ms[len(waits_ms) // 2] if waits_ms else 0, wanted_ms + promise.bound.tail_ms
    never = sum(waited_ns > tail_ms * 1e6 for waited_ns in findings.unanswered_ns)  # a shorter wait ended with the load
    number, late = len(waits_ms) + never, sum(wait_ms > tail_ms for wait_ms in waits_ms) + never
    if median_ms > wanted_ms + promise.bound.ms:
        yield promise.violation([Fact(Code.HALF_TRIED_SLOWLY, ms=round(median_ms))], list(findings.in_vain))
    elif late > FEW * number:
        seen = Fact(Code.SOME_TRIED_SLOWLY, late, of=number, ms=round(tail_ms))
        yield promise.violation([seen], list(findings.in_vain))


def slow_handover(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield a violation if the lock was free for too long while a request waited for it."""
    times, tail_ms = sorted(findings.idle_times, key=lambda idle: idle.ms), promise.bound.tail_ms
    median_ms = times[len(times) // 2].ms if times else 0
    late = sum(idle.ms > tail_ms for idle in times)
    if median_ms > promise.bound.ms:
        yield promise.violation([Fact(Code.HALF_HANDED_OVER_LATE, ms=round(median_ms))], [times[-1]])
    elif late > FEW * len(times):
        seen = Fact(Code.SOME_HANDED_OVER_LATE, late, of=len(times), ms=round(tail_ms), most=round(times[-1].ms))
        yield promise.violation([seen], [times[-1]])


def blocked(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield a violation if waiters gave up, and the waiters behind them did not get the lock when it was free.

    This breaks two more promises: a free lock was not granted to a waiter at once, and an acquire that had failed left the lock
    blocked for longer than its TTL.
    """
    if not findings.blocked:
        return
    worst = max(findings.blocked, key=lambda blocked: (blocked.never, blocked.ms))
    if worst.replica:
        code = Code.BLOCKED_TO_THE_END if worst.never else Code.BLOCKED
    else:
        code = Code.BLOCKED_EVERYWHERE_TO_THE_END if worst.never else Code.BLOCKED_EVERYWHERE
    seen = [Fact(code, ms=round(worst.ms), replica=worst.replica)]
    yield promise.violation(seen, [*worst.waits])
    yield Violation(Claim.prompt_handover.name, Mechanism.BLOCKED_BY_LEAVER, seen, [*worst.waits])
    if worst.ms > promise.bound_ms(findings):
        yield Violation(Claim.acquires_atomically.name, Mechanism.BLOCKED_BY_LEAVER, seen, [*worst.waits])


def too_many_refused(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield a violation if too many requests were refused, although nothing failed and they were ready to wait."""
    run = findings.run
    # a lock that checks its lease gives up work that does not fit into the TTL: this is no refusal
    refused = findings.outcomes[Outcome.FAILED] - findings.measures["outlasted_ttl"]
    if findings.outcomes[Outcome.ACKNOWLEDGED]:  # if a lock serves some requests, its errors are answers; if none, it cannot run
        refused += min(findings.unclear_answers, findings.gave_up)
    if run.has_faults or run.nested or run.wait_ms < PATIENT_MS or not run.is_complete:
        return
    if findings.is_overloaded or promise.slowness > 1:  # then a refusal after the whole wait is not the lock's fault
        refused -= _waited_to_the_end(findings)
    if refused > (1 - promise.bound.share) * findings.requests:
        seen = [Fact(Code.TOO_MANY_REFUSED, refused, of=findings.requests)]
        seen += [Fact(Code.MOSTLY_BECAUSE, often, detail=why) for why, often in findings.whys.most_common(1)]
        yield promise.violation(seen, [Refusals(refused)])


def not_reentrant(promise: Promise, findings: Findings) -> Iterator[Violation]:
    """Yield violations of a lock that a request takes twice: it waits for itself, or the lock is freed too early or never."""
    yield from harm(promise, findings)
    if findings.run.nested == "same":
        bound_ms = promise.bound_ms(findings)
        waited = list(_waited_for_itself(promise, findings, bound_ms))
        # a request that waits for itself still holds the outer lock, so the lock has not stayed too long
        yield from waited or _stayed(promise, findings, max(bound_ms, STAYS_MS))
        if findings.freed_first is not None and Mechanism.INNER_RELEASE_FREED not in findings.overlaps:
            first = FreedEarly(**asdict(findings.freed_first.facts()))
            yield promise.violation([Fact(Code.FREED_EARLY, findings.freed_early)], [first], Mechanism.INNER_RELEASE_FREED)


def _waited_for_itself(promise: Promise, findings: Findings, bound_ms: float) -> Iterator[Violation]:
    """Yield a violation if requests that held the lock waited long for the same lock, or gave up."""
    late = sum(wait_ns > bound_ms * 1e6 for wait_ns in findings.own_waits_ns)
    gave_up = [wait for wait in findings.in_vain if wait.holding == wait.wanted]
    seen = [Fact(Code.GAVE_UP, findings.gave_up)] if gave_up else []
    seen += [Fact(Code.WAITED_TOO_LONG, late, ms=round(bound_ms))] if late else []
    if seen:
        waits: list[Evidence] = [*gave_up, *([findings.longest_own] if findings.longest_own and late else [])]
        yield promise.violation(seen, waits, Mechanism.WAITED_FOR_ITSELF)


def _stayed(promise: Promise, findings: Findings, bound_ms: float) -> Iterator[Violation]:
    """Yield a violation if the lock stayed taken for long, although its holder had released it as often as it had taken it."""
    longest = max(findings.idle_times, key=lambda idle: idle.ms, default=None)
    if longest is not None and longest.ms > bound_ms:
        yield promise.violation([Fact(Code.STAYED, ms=round(longest.ms))], [longest], Mechanism.STAYED_AFTER_RELEASE)
