"""The question of each claim: the answer and the big figure of a run, computed from its judgement."""

from array import array
from collections import Counter

import pytest

from app.lock import Claim
from lab.evidence.fault_record import Effect, FaultRecord
from lab.evidence.history import Outcome
from lab.evidence.loss import Mechanism
from lab.judge.fact import Code, Fact, Idle, Overtaken, Wait
from lab.judge.faults import FaultOutcome, Onlookers
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.judge.promises import PROMISES
from lab.judge.run_facts import RunFacts
from lab.language import Language
from lab.ui import questions
from lab.ui.question import PROMISED, Tone
from tests.builders import MS, judgement_of
from tests.every import every

EVERY = [claim.name for claim in Claim]


def judgement(claim: str, verdict: str, violations: list[Violation] | None = None, **figures: int) -> Judgement:
    """A judgement on 40 requests."""
    about = {
        "claim": claim,
        "claimed": verdict in ("KEPT", "BROKEN"),
        "verdict": Verdict(verdict),
        "violations": violations or [],
    }
    return judgement_of(**about | dict.fromkeys(("requests", "acknowledged", "writes", "final"), 40) | figures)


def violated(claim: str, findings: Findings) -> list[Violation]:
    """What the claim's own promise says of these findings."""
    return [one for one in PROMISES[claim].violations(findings) if one.claim == claim]


def under(claim: str, **facts: object) -> Findings:
    findings = Findings(run=RunFacts(has_store=True, final=None, tests=claim, ttl_ms=500, users=10))
    findings.outcomes[Outcome.ACKNOWLEDGED] = 40
    for name, value in facts.items():
        setattr(findings, name, value)
    findings.onlookers = [Onlookers(fault, [Wait("waiter", "replica-1", 0, 9000 * MS, got=False)]) for fault in findings.faults]
    return findings


def killed(next_ms: int | None) -> FaultOutcome:
    record = FaultRecord("kill-1", "replica-1", 7, "r1", 10, kind="kill", failpoint="read.before", effect=Effect.PROCESS_DIES)
    return FaultOutcome(record, next_got_ns=0 if next_ms is None else 10 + next_ms * MS, next_request="r2")


def granted_by_a_minority(number: int) -> FaultOutcome:
    outcome = killed(400)
    outcome.granted_meanwhile = number
    return outcome


@every("language", Language)
@every("claim", EVERY)
def test_each_question_is_said(claim, language):
    """Each claim has its question (lab/ui/questions.py); it and its choices have words, with the bounds of its promise."""
    asked = questions.QUESTIONS[claim].said(language)

    assert [one for one in (asked["text"], *asked["choices"]) if not one or "{" in one] == []


@every("claim", EVERY)
@every("verdict", lambda: list(Verdict))
@every("lost", [0, 3])
def test_only_a_kept_promise_is_green(claim, verdict, lost):
    """Whatever the claim, the figure is green only where the verdict is KEPT and nothing was lost otherwise."""
    broken = (
        [Violation(claim, Mechanism.GRANTED_TO_TWO, [Fact(Code.GAVE_UP, 3)], [])] if verdict in ("BROKEN", "ADMITTED") else []
    )

    shown = questions.shown(judgement(claim, verdict, broken, lost=lost, acknowledged=40))

    assert (shown.tone is Tone.GOOD) == (verdict == "KEPT" and lost == 0)
    assert (shown.tone is Tone.BAD) >= bool(broken)
    assert (shown.choice is None) == (verdict == "VOID")
    assert len(questions.QUESTIONS[claim].choices) > (shown.choice or 0)
    assert shown.number
    assert shown.counted.words()


@every("claim", EVERY)
def test_kept_promise_is_the_first_choice(claim):
    """Where the promise held, the first choice came true."""
    assert questions.shown(judgement(claim, "KEPT")).choice == PROMISED


@every(
    "claim, facts, figures, choice, number",
    [
        ("answers_a_try_at_once", {"in_vain_ns": array("q", [700 * MS] * 3)}, {"failed": 30}, 1, "700 ms"),
        ("prompt_handover", {"idle_times": [Idle("r0", "r1", 0, 60 * MS)] * 3}, {}, 1, "60 ms"),
        ("fair", {"overtakes": array("q", [0, 73]), "overtaken": Overtaken("r1", "replica-1", 73, 1, 2)}, {}, 1, "73"),
        ("counts_once", {"duplicated": 9}, {"duplicated": 9}, 1, "9"),
        ("breaks_deadlock", {"gave_up": 2}, {"failed": 2}, 1, "2"),
        ("reentrant", {"gave_up": 3}, {"failed": 3}, 1, "3"),
        ("refuses_without_majority", {"faults": [granted_by_a_minority(3)]}, {}, 1, "3"),
        ("fence_outlives_restart", {"measures": Counter(refused=21)}, {}, 1, "21"),
        ("all_or_nothing", {"measures": Counter(half_done=4)}, {}, 1, "4"),
        ("reenters_only_its_own", {"measures": Counter(reentered=3)}, {}, 1, "3"),
    ],
)
def test_figure_of_a_broken_claim(claim, facts, figures, choice, number):
    """The big figure of a broken claim is the one that its own check found."""
    findings = under(claim, **facts)
    findings.run = RunFacts(
        **vars_of(findings.run) | {"nested": {"reentrant": "same", "breaks_deadlock": "crossed"}.get(claim, "")}
    )
    if claim in ("reentrant", "breaks_deadlock"):
        findings.in_vain = [Wait("r1", "replica-1", 0, 800 * MS, got=False)]
    for fault in findings.faults:
        fault.record.recovering_ns = 900 * MS
    broken = violated(claim, findings)

    shown = questions.shown(judgement(claim, "ADMITTED", broken, **figures))

    assert broken
    assert (shown.choice, shown.number) == (choice, number)


@every(
    "tested, broken, mechanism, fact, figures, choice",
    [
        ("exclusive", "exclusive", Mechanism.GRANTED_TWICE, Fact(Code.TWO_INSIDE, 7), {}, PROMISED),  # although none was lost
        ("reentrant", "reentrant", Mechanism.INNER_RELEASE_FREED, Fact(Code.TWO_INSIDE, 4), {"failed": 3}, 2),
        ("reentrant", "reentrant", Mechanism.STAYED_AFTER_RELEASE, Fact(Code.GAVE_UP, 3), {"failed": 3}, 3),
        ("counts_once", "counts_once", Mechanism.NEVER_DONE, Fact(Code.NOT_WRITTEN, 5), {}, 2),
        ("exclusive", "counts_once", Mechanism.DONE_AGAIN, Fact(Code.WROTE_AGAIN, 9), {"duplicated": 9}, PROMISED),
    ],
)
def test_figure_of_a_fact(tested, broken, mechanism, fact, figures, choice):
    """What broke a promise is the figure, and not a zero; where only another promise broke, the figure is that promise's."""
    shown = questions.shown(judgement(tested, "BROKEN", [Violation(broken, mechanism, [fact], [])], **figures))

    assert (shown.choice, shown.number, shown.tone) == (choice, str(fact.n), Tone.BAD)


@pytest.mark.parametrize(("claim", "tone"), [("freed_after_crash", Tone.PLAIN), ("answers_a_try_at_once", Tone.GOOD)])
def test_refusals_are_green_only_where_promised(claim, tone):
    """Three refused requests are no green 3, unless the claim promises that requests are refused."""
    shown = questions.shown(judgement(claim, "KEPT", failed=3))

    assert (shown.number, shown.tone) == ("3", tone)


def vars_of(facts: RunFacts) -> dict[str, object]:
    return {name: getattr(facts, name) for name in facts.__dataclass_fields__}
