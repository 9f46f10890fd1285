"""The question of each claim, as a table.

Claims of one family are answered by the same figure. What is asked, and the choices, are names in ``lab/story/words.toml``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar

from lab.evidence.loss import Mechanism
from lab.judge.fact import Code, FreedEarly, Overtaken, Refusals, Wait
from lab.judge.faults import FaultOutcome
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.judge.promises import PROMISES, WORK_IS_SAFE
from lab.ui.question import PROMISED, Amount, Answering, ClaimQuestion, RunAnswer, own

Figure = Callable[[list[Violation]], str]
Kind = TypeVar("Kind")


def _losses(judgement: Judgement, broken: list[Violation]) -> RunAnswer:
    if broken and not judgement.lost:  # a broken promise is not a 0
        if inside := _inside(broken):
            return RunAnswer(0, inside, Amount("inside_and_none_lost"))
        return RunAnswer(0, _number(broken), Amount("brought_back"))
    lost = judgement.lost
    return RunAnswer(int(lost > 0), str(lost), Amount("lost", judgement.acknowledged))


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


LOSSES = ClaimQuestion("losses", ("loses_none", "loses_some"), _losses, live="gap")
LATE_RELEASE = ClaimQuestion(
    "late_release",
    ("its_own", "of_next"),
    lambda judgement, broken: dataclasses.replace(_losses(judgement, broken), choice=int(bool(broken))),
    live="gap",
)


def _asked(claim: str, *choices: str, answering: Answering, refusals_are_good: bool = False) -> ClaimQuestion:
    """Return the question of one claim, with the bound of its promise."""
    return ClaimQuestion(claim, choices, answering, PROMISES[claim].bound, refusals_are_good=refusals_are_good)


def _when_granted(claim: str, first: str = "next_within") -> ClaimQuestion:
    """Return the question of a claim that the lock is granted again."""
    return _asked(claim, first, "next_later", "nobody", answering=_next_grant)


def _how_often_overtaken(claim: str) -> ClaimQuestion:
    """Return the question of waiters that later requests overtake."""
    kept = ("0", Amount("waiters_overtaken"))
    return _asked(claim, "at_most_times", "more_often", answering=either("overtaken", _most_overtaken, lambda _: kept))


FREED = (
    *("acquires_atomically", "freed_after_crash", "freed_with_a_clock_behind", "freed_after_failure", "freed_after_hang"),
    *("freed_after_a_failed_release", "freed_after_a_lost_release", "survives_a_lost_reply", "available_with_two_nodes_down"),
)
OF_ONE_CLAIM = (
    *map(_when_granted, FREED),
    _when_granted("available_with_a_node_down", "next_before"),
    *map(_how_often_overtaken, ("fair", "fair_in_process")),
    _asked(
        "refuses_without_majority",
        *("none", "some"),
        answering=either("minority", lambda broken: str(sum(one.granted_meanwhile for one in _evidence(FaultOutcome, broken)))),
        refusals_are_good=True,
    ),
    _asked(
        "answers_a_try_at_once",
        *("no_at_once", "waits_all_the_same"),
        answering=either(
            "waited_for_no",
            lambda broken: _seconds(_milliseconds(broken)),
            lambda judgement: (str(judgement.failed), Amount("no_at_once", judgement.requests)),
        ),
        refusals_are_good=True,
    ),
    _asked(
        "prompt_handover",
        *("at_most_ms", "waiters_sleep"),
        answering=either(
            "stayed_free_longer",
            lambda broken: f"{_milliseconds(broken):.0f} ms",
            lambda _: (f"≤ {HANDOVER_MS:.0f} ms", Amount("stayed_free")),
        ),
    ),
    _asked("reenters_only_its_own", "no_it_waits", "as_its_own", answering=either("entered"), refusals_are_good=True),
    _asked("reentrant", "gets_it", "waits_for_itself", "inner_frees", "releases_free_nothing", answering=_waits_for_itself),
    _asked("breaks_deadlock", "both_get_out", "wait_longer", answering=_waited),
    _asked("loses_no_wakeup", "yes", "sleeps_on", answering=_waited),
    _asked(
        "waiters_may_leave",
        *("yes", "leaver_blocks"),
        answering=either("behind_a_leaver", lambda broken: _seconds(max((one.ms for one in _evidence(Wait, broken)), default=0))),
    ),
    _asked("counts_once", "once", "some_twice", "some_never", answering=_work_done_twice),
    _asked(
        "serves_most_requests",
        *("at_least", "fewer"),
        answering=lambda judgement, broken: _refused(int(bool(broken)), judgement),
    ),
    _asked(
        "fence_outlives_restart",
        *("none", "some"),
        answering=either("holders_refused", _refused_holders, lambda _: ("0", Amount("holders_refused"))),
    ),
    _asked(
        "all_or_nothing", "whole_or_not", "half_done", answering=either("half_done", kept=lambda _: ("0", Amount("half_done")))
    ),
)
QUESTIONS: dict[str, ClaimQuestion] = {
    **{promise.claim.name: LOSSES for promise in WORK_IS_SAFE},
    **dict.fromkeys(("releases_only_its_own", "releases_atomically"), LATE_RELEASE),
    **{question.name: question for question in OF_ONE_CLAIM},
}


def shown(judgement: Judgement) -> RunAnswer:
    """Return a run's answer to the question of its claim. Where only another promise was broken, the figure is that claim's."""
    answer = QUESTIONS[judgement.claim].shown(judgement)
    if judgement.verdict is not Verdict.BROKEN or own(judgement, judgement.claim) or judgement.lost:
        return answer
    claim = judgement.violations[0].claim
    other = QUESTIONS[claim].answering(judgement, own(judgement, claim))
    return dataclasses.replace(answer, number=other.number, counted=other.counted)
