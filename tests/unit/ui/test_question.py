"""Test the question of each claim: the answer and the big figure of a run, computed from its judgement."""

from collections import Counter

from app.lock import Claim
from lab.evidence.fault_record import Effect, FaultRecord
from lab.evidence.history import Outcome
from lab.evidence.loss import Mechanism
from lab.judge.fact import Code, Fact, Wait
from lab.judge.faults import FaultOutcome, Onlookers
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.judge.promises import PROMISES
from lab.judge.run_facts import RunFacts
from lab.language import Language
from lab.story.verdict import seen_facts
from lab.ui import question
from lab.ui.question import BROKEN, FOR_EVER, PROMISED, Tone
from tests.builders import MS, judgement_of
from tests.every import every

EVERY = [claim.name for claim in Claim]


def judgement(claim: str, verdict: str, violations: list[Violation] | None = None, **figures: int) -> Judgement:
    """Return a judgement on 40 requests."""
    about = {
        "claim": claim,
        "claimed": verdict in ("KEPT", "BROKEN"),
        "verdict": Verdict(verdict),
        "violations": violations or [],
    }
    return judgement_of(**about | dict.fromkeys(("requests", "acknowledged", "writes", "final"), 40) | figures)


def violated(claim: str, findings: Findings) -> list[Violation]:
    """Return the violations of this claim that its own promise finds."""
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


@every("claim", EVERY)
@every("verdict", lambda: list(Verdict))
@every("lost", [0, 3])
def test_only_a_kept_promise_is_green(claim, verdict, lost):
    """Whatever the claim, the figure is green only if the verdict is KEPT and no increment was lost by another cause."""
    broken = (
        [Violation(claim, Mechanism.GRANTED_TO_TWO, [Fact(Code.GAVE_UP, 3)], [])] if verdict in ("BROKEN", "ADMITTED") else []
    )

    shown = question.answer(judgement(claim, verdict, broken, lost=lost, acknowledged=40))

    assert (shown.tone is Tone.GOOD) == (verdict == "KEPT" and lost == 0)
    assert (shown.tone is Tone.BAD) >= bool(broken)
    assert (shown.choice is None) == (verdict == "VOID")
    for language in Language:
        asked = question.of_claim(claim, language)
        assert all((asked["text"], *asked["choices"], shown.words[language]))
        assert len(asked["choices"]) > (shown.choice or 0)


@every("claim", EVERY)
def test_kept_promise_is_the_first_choice(claim):
    """If the promise was kept, the first choice is the answer."""
    assert question.answer(judgement(claim, "KEPT")).choice == PROMISED


@every(
    "claim, facts, figures, choice, number",
    [
        ("freed_after_crash", {"faults": [killed(9000)]}, {}, BROKEN, "9.0 s"),
        ("freed_after_crash", {"faults": [killed(None)]}, {"failed": 30}, FOR_EVER, "30"),
        ("counts_once", {"duplicated": 9}, {"duplicated": 9}, BROKEN, ""),
        ("fence_outlives_restart", {"measures": Counter(refused=21)}, {"failed": 21}, BROKEN, "21"),
        ("all_or_nothing", {"measures": Counter(half_done=4)}, {}, BROKEN, ""),
    ],
)
def test_figure_of_a_broken_claim(claim, facts, figures, choice, number):
    """The big figure of a broken claim is the wait after the fault, or the number of refused requests, or else a sentence."""
    findings = under(claim, **facts)
    for fault in findings.faults:
        fault.record.recovering_ns = 900 * MS
    broken = violated(claim, findings)

    shown = question.answer(judgement(claim, "ADMITTED", broken, **figures))

    assert broken
    assert (shown.choice, shown.number) == (choice, number)
    assert number or shown.words[Language.ENGLISH] == seen_facts(broken[0])


@every(
    "tested, broken, fact",
    [
        ("exclusive", "exclusive", Fact(Code.TWO_INSIDE, 7)),  # no increment was lost
        ("exclusive", "counts_once", Fact(Code.WROTE_AGAIN, 9)),
    ],
)
def test_a_broken_promise_is_not_a_0(tested, broken, fact):
    """If a promise broke without a loss, the page shows the sentence of the violation, and no figure 0."""
    violation = Violation(broken, Mechanism.GRANTED_TWICE, [fact], [])
    shown = question.answer(judgement(tested, "BROKEN", [violation]))

    assert (shown.choice, shown.number, shown.tone) == (PROMISED, "", Tone.BAD)
    assert shown.words[Language.ENGLISH] == seen_facts(violation)


def test_refusals_are_not_green():
    """The number of refused requests is not green, even if the promise was kept."""
    shown = question.answer(judgement("freed_after_crash", "KEPT", failed=3))

    assert (shown.number, shown.tone) == ("3", Tone.PLAIN)
