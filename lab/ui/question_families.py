"""The families of questions: claims of one family are asked alike, and answered by the same figure."""

from __future__ import annotations

import dataclasses

from app.lock import Claim
from lab.evidence.loss import Mechanism
from lab.judge.examples import FreedEarly, Overtaken, Refusals, Wait
from lab.judge.fact import Code
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.judgement import Judgement, Violation
from lab.judge.promise import Bound
from lab.judge.promises import PROMISES
from lab.ui.question import PROMISED, Amount, ClaimQuestion, RunAnswer

SHARES: dict[float, str] = {1 / 2: "half", 1 / 3: "a third"}  # as a person says them
TTLS: dict[float, str] = {1: "the TTL", 2: "twice the TTL"}
TIMES: dict[float, str] = {500: "half a second"}


def share(part: float) -> str:
    """Return a part of something, in words."""
    return SHARES.get(part, f"{100 * part:.0f} %")


def within(bound: Bound) -> str:
    """Return the time within which a lock must be free again, in words."""
    also = f" and {TIMES.get(bound.ms, f'{bound.ms:.0f} ms')}" if bound.ms else ""
    return f"within {TTLS.get(bound.ttls, f'{share(bound.ttls)} of the TTL')}{also}"


def losses() -> ClaimQuestion:
    """Return the question of a claim that no increment is lost."""
    return ClaimQuestion(
        text="Will it lose increments?", choices=("it loses none", "it loses some"), answering=_losses, live="gap"
    )


def _losses(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if broken and not judgement.lost:  # a broken promise is not a 0
        if inside := _inside(broken):
            return RunAnswer(0, inside, Amount("inside_and_none_lost"))
        return RunAnswer(0, _number(broken), Amount("brought_back"))
    lost = judgement.lost
    return RunAnswer(int(lost > 0), str(lost), Amount("lost", judgement.acknowledged))


def whose_key() -> ClaimQuestion:
    """Return the question of a claim that a late release deletes no other lock."""
    return ClaimQuestion(
        text="A release comes late. Whose key does it delete?",
        choices=("its own, or none", "the key of the next holder"),
        answering=lambda judgement, broken: dataclasses.replace(_losses(judgement, broken), choice=int(bool(broken))),
        live="gap",
    )


def next_grant(after: str, promised: str) -> ClaimQuestion:
    """Return the question of a claim that the lock is granted again. after: the event; promised: within which time."""
    return ClaimQuestion(
        text=f"Who gets in after {after}?",
        choices=(f"the next request, {promised}", "the next request, but later", "nobody any more"),
        answering=_next_grant,
    )


def _next_grant(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if not broken:
        return _refused(PROMISED, judgement)
    faults = [one for violation in broken for one in violation.evidence if isinstance(one, FaultOutcome)]
    waits_ms = [one.idle_ms for one in faults]
    if None in waits_ms or not faults:
        return _refused(2, judgement)
    return RunAnswer(1, _seconds(max(ms for ms in waits_ms if ms is not None)), Amount("next_got_in"))


REENTRY = {
    Mechanism.WAITED_FOR_ITSELF: 1,
    Mechanism.INNER_RELEASE_FREED: 2,
    Mechanism.STAYED_AFTER_RELEASE: 3,
}  # mechanism → choice


def waits_for_itself() -> ClaimQuestion:
    """Return the question of a lock that its holder takes again."""
    return ClaimQuestion(
        text="What happens to a holder that asks for its own lock again?",
        choices=(
            "it gets the lock",
            "it waits for itself",
            "its inner release frees the lock",
            "its releases do not free the lock",
        ),
        answering=_waits_for_itself,
    )


def _waits_for_itself(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if not broken:
        return _refused(PROMISED, judgement)
    choice = REENTRY.get(broken[0].mechanism, REENTRY[Mechanism.INNER_RELEASE_FREED])
    if choice != REENTRY[Mechanism.INNER_RELEASE_FREED]:
        return dataclasses.replace(_waited(judgement, broken), choice=choice)
    if judgement.lost:
        return RunAnswer(choice, str(judgement.lost), Amount("lost_by_inner"))
    freed = [one for one in broken if any(isinstance(each, FreedEarly) for each in one.evidence)]
    words = Amount("freed_by_inner") if freed else Amount("inside")
    return RunAnswer(choice, _number(freed) if freed else _inside(broken) or _number(broken), words)


def reentered() -> ClaimQuestion:
    """Return the question of a lock that a failed request left behind."""
    return ClaimQuestion(
        text="A request fails and leaves its lock behind. Does the next request on its thread enter that lock?",
        choices=("no, it waits", "yes, as if the lock was its own"),
        answering=_reentered,
        refusals_are_good=True,
    )


def _reentered(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if broken:
        return RunAnswer(1, _number(broken), Amount("entered"))
    return _refused(PROMISED, judgement)


def deadlock() -> ClaimQuestion:
    """Return the question of two holders that wait for each other."""
    return ClaimQuestion(
        text="Two holders wait for each other's lock. How does it end?",
        choices=(f"both get out {within(PROMISES['breaks_deadlock'].bound)}", "they wait longer, or give up"),
        answering=_waited,
    )


def wakeup() -> ClaimQuestion:
    """Return the question of a waiter whose lock is released just before it begins to wait."""
    return ClaimQuestion(
        text="The lock is released just before a waiter begins to wait. Does the waiter get it?",
        choices=("yes", "it sleeps until it gives up"),
        answering=_waited,
    )


def _waited(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    """Return how many requests gave up waiting, or the longest wait."""
    waits_ms = [one.ms for violation in broken for one in violation.evidence if isinstance(one, Wait)]
    if not broken or judgement.failed or not waits_ms:
        return _refused(int(bool(broken)), judgement)
    return RunAnswer(1, _seconds(max(waits_ms)), Amount("longest_wait"))


def minority() -> ClaimQuestion:
    """Return the question of a lock whose majority of stores is down."""
    return ClaimQuestion(
        text="Most of the servers are down. Which requests get the lock?",
        choices=("none", "some"),
        answering=_minority,
        refusals_are_good=True,
    )


def _minority(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if broken:
        granted = [one.granted_meanwhile for violation in broken for one in violation.evidence if isinstance(one, FaultOutcome)]
        return RunAnswer(1, str(sum(granted)), Amount("minority"))
    return _refused(PROMISED, judgement)


def try_once() -> ClaimQuestion:
    """Return the question of requests that do not want to wait."""
    return ClaimQuestion(
        text="The lock is held. What does a request get that does not want to wait?",
        choices=("a no at once", "it waits for the lock all the same"),
        answering=_try_once,
        refusals_are_good=True,
    )


def _try_once(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if broken:
        return RunAnswer(1, _seconds(_milliseconds(broken)), Amount("waited_for_no"))
    return RunAnswer(PROMISED, str(judgement.failed), Amount("no_at_once", judgement.requests))


HANDOVER_MS = PROMISES["prompt_handover"].bound.ms


def handover() -> ClaimQuestion:
    """Return the question of a free lock for which requests wait."""
    return ClaimQuestion(
        text="A waiter is there. How long does the lock stay free?",
        choices=(f"{HANDOVER_MS:.0f} ms or less, in most hand-overs", "longer: the waiters sleep"),
        answering=_handover,
    )


def _handover(_judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if broken:
        return RunAnswer(1, f"{_milliseconds(broken):.0f} ms", Amount("stayed_free_longer"))
    return RunAnswer(PROMISED, f"≤ {HANDOVER_MS:.0f} ms", Amount("stayed_free"))


def overtaken(by: str, bound: Bound) -> ClaimQuestion:
    """Return the question of waiters that later requests overtake. by: which request overtakes."""
    return ClaimQuestion(
        text=f"How often is a waiter overtaken by {by} that asked later?",
        choices=(f"at most {bound.times} times, nine waiters in ten", "more often"),
        answering=_overtaken,
    )


def _overtaken(_judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    often = [one.overtaken for violation in broken for one in violation.evidence if isinstance(one, Overtaken)]
    if broken:
        return RunAnswer(1, str(max(often, default=0)) if often else _number(broken), Amount("overtaken"))
    return RunAnswer(PROMISED, "0", Amount("waiters_overtaken"))


def work_done_twice() -> ClaimQuestion:
    """Return the question of requests that may do their work again."""
    return ClaimQuestion(
        text="How often does a request do its work?",
        choices=("once", "some requests do it twice", "some never do it"),
        answering=_work_done_twice,
    )


def _work_done_twice(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    twice = judgement.duplicated
    if broken and not twice:
        return RunAnswer(2, _number(broken), Amount("not_done"))
    return RunAnswer(int(twice > 0), str(twice), Amount("twice"))


def refused_holders() -> ClaimQuestion:
    """Return the question of holders whose fence the resource refuses."""
    return ClaimQuestion(
        text="The store of the fences lost its data. How many holders does the resource refuse?",
        choices=("none", "some"),
        answering=_refused_holders,
    )


def _refused_holders(_judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    refused = sum(one.refused for violation in broken for one in violation.evidence if isinstance(one, Refusals))
    number = str(refused) if refused or not broken else _number(broken)
    return RunAnswer(int(bool(broken)), number, Amount("holders_refused"))


def waiters_behind() -> ClaimQuestion:
    """Return the question of waiters that give up: what becomes of those behind them?"""
    return ClaimQuestion(
        text="Some waiters give up. Do the waiters behind them get the lock when it is free?",
        choices=("yes", "no, a waiter that has gone blocks them"),
        answering=_waiters_behind,
    )


def _waiters_behind(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if not broken:
        return _refused(PROMISED, judgement)
    waits_ms = [one.ms for violation in broken for one in violation.evidence if isinstance(one, Wait)]
    return RunAnswer(1, _seconds(max(waits_ms, default=0)), Amount("behind_a_leaver"))


def served() -> ClaimQuestion:
    """Return the question of patient requests: how many are served?"""
    return ClaimQuestion(
        text="Nothing fails, and all requests are patient. How many are served?",
        choices=(f"at least {share(PROMISES['serves_most_requests'].bound.share)} of them", "fewer"),
        answering=lambda judgement, broken: _refused(int(bool(broken)), judgement),
    )


def half_done() -> ClaimQuestion:
    """Return the question of work with two writes."""
    return ClaimQuestion(
        text="The holder is stopped between its two writes. What becomes of its work?",
        choices=("it is done as a whole, or not at all", "it stays half done"),
        answering=_half_done,
    )


def _half_done(_judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    return RunAnswer(int(bool(broken)), _number(broken) if broken else "0", Amount("half_done"))


def of_any(claim: str) -> ClaimQuestion:
    """Return the question of a claim that has no entry in the table: will the promise hold?"""
    promise = Claim[claim].value if claim in Claim.__members__ else claim
    return ClaimQuestion(text=f"Will this promise hold? {promise}", choices=("it holds", "it does not"), answering=_of_any)


def _of_any(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if judgement.failed or not broken:
        return _refused(int(bool(broken)), judgement)
    return RunAnswer(1, _number(broken), Amount("harm"))


def _refused(choice: int, judgement: Judgement) -> RunAnswer:
    return RunAnswer(choice, str(judgement.failed), Amount("refused", judgement.requests))


def _inside(broken: list[Violation]) -> str:
    """Return how often two holders were inside at once; empty if never."""
    often = sum(fact.n for one in broken for fact in one.seen if fact.code in (Code.TWO_INSIDE, Code.TWO_INSIDE_IN_PROCESS))
    return str(often) if often else ""


def _number(broken: list[Violation]) -> str:
    """Return the first figure of a violation: how many, or how long in milliseconds."""
    first = next(iter(broken[0].seen), None)
    return "?" if first is None else str(first.n or first.ms or "?")


def _milliseconds(broken: list[Violation]) -> float:
    return float(max((fact.ms for fact in broken[0].seen), default=0))


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.0f} ms"
