"""The question of each claim, as a table.

Claims of one family are asked alike, and answered by the same figure. The bounds in questions and choices are those of the table
of promises.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

from lab.evidence.loss import Mechanism
from lab.judge.fact import Code, FreedEarly, Overtaken, Refusals, Wait
from lab.judge.faults import FaultOutcome
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.judge.promise import Bound
from lab.judge.promises import PROMISES, WORK_IS_SAFE
from lab.ui.question import PROMISED, Amount, Answering, ClaimQuestion, RunAnswer, own

Figure = Callable[[list[Violation]], str]
Kind = TypeVar("Kind")
SHARES: dict[float, str] = {1 / 2: "half", 1 / 3: "a third"}  # as a person says them
TTLS: dict[float, str] = {1: "the TTL", 2: "twice the TTL"}
TIMES: dict[float, str] = {500: "half a second"}


def share(part: float) -> str:
    """Return a part of something, in words."""
    return SHARES.get(part, f"{100 * part:.0f}%")


def within(bound: Bound) -> str:
    """Return the time within which a lock must be free again, in words."""
    also = f" and {TIMES.get(bound.ms, f'{bound.ms:.0f} ms')}" if bound.ms else ""
    return f"within {TTLS.get(bound.ttls, f'{share(bound.ttls)} of the TTL')}{also}"


def _losses(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if broken and not judgement.lost:  # a broken promise is not a 0
        if inside := _inside(broken):
            return RunAnswer(0, inside, Amount("inside_and_none_lost"))
        return RunAnswer(0, _number(broken), Amount("brought_back"))
    lost = judgement.lost
    return RunAnswer(int(lost > 0), str(lost), Amount("lost", judgement.acknowledged))


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
    waits_ms = [one.idle_ms for one in _evidence(FaultOutcome, broken)]
    if None in waits_ms or not waits_ms:
        return _refused(2, judgement)
    return RunAnswer(1, _seconds(max(ms for ms in waits_ms if ms is not None)), Amount("next_got_in"))


REENTRY = {
    Mechanism.WAITED_FOR_ITSELF: 1,
    Mechanism.INNER_RELEASE_FREED: 2,
    Mechanism.STAYED_AFTER_RELEASE: 3,
}  # mechanism → choice


def _waits_for_itself(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if not broken:
        return _refused(PROMISED, judgement)
    choice = REENTRY.get(broken[0].mechanism, REENTRY[Mechanism.INNER_RELEASE_FREED])
    if choice != REENTRY[Mechanism.INNER_RELEASE_FREED]:
        return dataclasses.replace(_waited(judgement, broken), choice=choice)
    if judgement.lost:
        return RunAnswer(choice, str(judgement.lost), Amount("lost_by_inner"))
    freed = [one for one in broken if _evidence(FreedEarly, [one])]
    words = Amount("freed_by_inner") if freed else Amount("inside")
    return RunAnswer(choice, _number(freed) if freed else _inside(broken) or _number(broken), words)


def _waited(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    """Return how many requests gave up waiting, or the longest wait."""
    waits_ms = [one.ms for one in _evidence(Wait, broken)]
    if not broken or judgement.failed or not waits_ms:
        return _refused(int(bool(broken)), judgement)
    return RunAnswer(1, _seconds(max(waits_ms)), Amount("longest_wait"))


def either(bad: str, figure: Figure | None = None, kept: Callable[[Judgement], tuple[str, Amount]] | None = None) -> Answering:
    """Return what answers a question with two choices, of which the second is the broken promise.

    bad: the name of the amount of a broken promise; figure: its number. kept: number and amount of a promise that was kept;
    the refused requests if None.
    """

    def answering(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
        if broken:
            return RunAnswer(1, (figure or _number)(broken), Amount(bad))
        return RunAnswer(PROMISED, *kept(judgement)) if kept else _refused(PROMISED, judgement)

    return answering


HANDOVER_MS = PROMISES["prompt_handover"].bound.ms


def overtaken(by: str, bound: Bound) -> ClaimQuestion:
    """Return the question of waiters that later requests overtake. by: which request overtakes."""
    return ClaimQuestion(
        text=f"How often is a waiter overtaken by {by} that asked later?",
        choices=(f"at most {bound.times} times, nine waiters in ten", "more often"),
        answering=either("overtaken", _most_overtaken, lambda _: ("0", Amount("waiters_overtaken"))),
    )


def _most_overtaken(broken: list[Violation]) -> str:
    often = [one.overtaken for one in _evidence(Overtaken, broken)]
    return str(max(often)) if often else _number(broken)


def _work_done_twice(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    twice = judgement.duplicated
    if broken and not twice:
        return RunAnswer(2, _number(broken), Amount("not_done"))
    return RunAnswer(int(twice > 0), str(twice), Amount("twice"))


def _refused_holders(broken: list[Violation]) -> str:
    return str(sum(one.refused for one in _evidence(Refusals, broken)) or _number(broken))


def _evidence(kind: type[Kind], broken: list[Violation]) -> list[Kind]:
    """Return the evidence of one kind."""
    return [one for violation in broken for one in violation.evidence if isinstance(one, kind)]


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


AFTER = {  # what happens in the promises that the lock is free again
    "acquires_atomically": "a request went wrong in the middle of its acquire",
    "freed_after_crash": "the holder has died",
    "freed_with_a_clock_behind": "the holder has died, and the store's clock has jumped back",
    "freed_after_failure": "the holder's work has failed",
    "freed_after_hang": "the holder's thread hangs and its process lives on",
    "freed_after_a_failed_release": "a release has failed",
    "freed_after_a_lost_release": "the reply to a release was lost",
    "survives_a_lost_reply": "the reply to an acquire was lost",
    "available_with_two_nodes_down": "two of the lock's five stores fell silent",
}
QUESTIONS: dict[str, ClaimQuestion] = {
    **{
        promise.claim.name: ClaimQuestion(
            text="Will it lose increments?", choices=("it loses none", "it loses some"), answering=_losses, live="gap"
        )
        for promise in WORK_IS_SAFE
    },
    **dict.fromkeys(
        ("releases_only_its_own", "releases_atomically"),
        ClaimQuestion(
            text="A release comes late. Whose key does it delete?",
            choices=("its own, or none", "the key of the next holder"),
            answering=lambda judgement, broken: dataclasses.replace(_losses(judgement, broken), choice=int(bool(broken))),
            live="gap",
        ),
    ),
    **{claim: next_grant(event, within(PROMISES[claim].bound)) for claim, event in AFTER.items()},
    "available_with_a_node_down": next_grant("one of the lock's stores went down", "before it is back"),
    "refuses_without_majority": ClaimQuestion(
        text="Most of the servers are down. Which requests get the lock?",
        choices=("none", "some"),
        answering=either("minority", lambda broken: str(sum(one.granted_meanwhile for one in _evidence(FaultOutcome, broken)))),
        refusals_are_good=True,
    ),
    "answers_a_try_at_once": ClaimQuestion(
        text="The lock is held. What does a request get that does not want to wait?",
        choices=("a no at once", "it waits for the lock all the same"),
        answering=either(
            "waited_for_no",
            lambda broken: _seconds(_milliseconds(broken)),
            lambda judgement: (str(judgement.failed), Amount("no_at_once", judgement.requests)),
        ),
        refusals_are_good=True,
    ),
    "prompt_handover": ClaimQuestion(
        text="A waiter is there. How long does the lock stay free?",
        choices=(f"{HANDOVER_MS:.0f} ms or less, in most hand-overs", "longer: the waiters sleep"),
        answering=either(
            "stayed_free_longer",
            lambda broken: f"{_milliseconds(broken):.0f} ms",
            lambda _: (f"≤ {HANDOVER_MS:.0f} ms", Amount("stayed_free")),
        ),
    ),
    "fair": overtaken("a request", PROMISES["fair"].bound),
    "fair_in_process": overtaken("a request of its own replica", PROMISES["fair_in_process"].bound),
    "reenters_only_its_own": ClaimQuestion(
        text="A request fails and leaves its lock behind. Does the next request on its thread enter that lock?",
        choices=("no, it waits", "yes, as if the lock was its own"),
        answering=either("entered"),
        refusals_are_good=True,
    ),
    "reentrant": ClaimQuestion(
        text="What happens to a holder that asks for its own lock again?",
        choices=(
            "it gets the lock",
            "it waits for itself",
            "its inner release frees the lock",
            "its releases do not free the lock",
        ),
        answering=_waits_for_itself,
    ),
    "breaks_deadlock": ClaimQuestion(
        text="Two holders wait for each other's lock. How does it end?",
        choices=(f"both get out {within(PROMISES['breaks_deadlock'].bound)}", "they wait longer, or give up"),
        answering=_waited,
    ),
    "loses_no_wakeup": ClaimQuestion(
        text="The lock is released just before a waiter begins to wait. Does the waiter get it?",
        choices=("yes", "it sleeps until it gives up"),
        answering=_waited,
    ),
    "waiters_may_leave": ClaimQuestion(
        text="Some waiters give up. Do the waiters behind them get the lock when it is free?",
        choices=("yes", "no, a waiter that has gone blocks them"),
        answering=either("behind_a_leaver", lambda broken: _seconds(max((one.ms for one in _evidence(Wait, broken)), default=0))),
    ),
    "counts_once": ClaimQuestion(
        text="How often does a request do its work?",
        choices=("once", "some requests do it twice", "some never do it"),
        answering=_work_done_twice,
    ),
    "serves_most_requests": ClaimQuestion(
        text="Nothing fails, and all requests are patient. How many are served?",
        choices=(f"at least {share(PROMISES['serves_most_requests'].bound.share)} of them", "fewer"),
        answering=lambda judgement, broken: _refused(int(bool(broken)), judgement),
    ),
    "fence_outlives_restart": ClaimQuestion(
        text="The store of the fences lost its data. How many holders does the resource refuse?",
        choices=("none", "some"),
        answering=either("holders_refused", _refused_holders, lambda _: ("0", Amount("holders_refused"))),
    ),
    "all_or_nothing": ClaimQuestion(
        text="The holder is stopped between its two writes. What becomes of its work?",
        choices=("it is done as a whole, or not at all", "it stays half done"),
        answering=either("half_done", kept=lambda _: ("0", Amount("half_done"))),
    ),
}


def shown(judgement: Judgement) -> RunAnswer:
    """Return a run's answer to the question of its claim. Where only another promise was broken, the figure is that claim's."""
    answer = QUESTIONS[judgement.claim].shown(judgement)
    if judgement.verdict is not Verdict.BROKEN or own(judgement, judgement.claim) or judgement.lost:
        return answer
    claim = judgement.violations[0].claim
    other = QUESTIONS[claim].answering(judgement, own(judgement, claim))
    return dataclasses.replace(answer, number=other.number, counted=other.counted)
