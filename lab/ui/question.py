"""The question to the class about the claim of a run, and the run's answer: the choice that came true, and the big figure.

The choices are the promise of the claim and its opposite, in a few words; a step of the lesson has words of its own for them. The
answer is computed from the judgement, so a prediction is judged by the claim that the scenario tests. An example: if the claim is
that a crash frees the lock, a run that loses no increment may still break it, and have refused most requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from lab.judge.faults import FaultOutcome
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.judge.promises import FREED, WORK_IS_SAFE
from lab.language import Language
from lab.story.say import claim as few_words
from lab.story.say import text
from lab.story.verdict import promise, seen_facts

PROMISED, BROKEN, FOR_EVER = 0, 1, 2  # the places of the choices; the third one is that no request gets the lock any more
SAFE = {one.claim.name for one in WORK_IS_SAFE}  # their figure counts lost increments, and the others' counts refused requests
BY_LOSSES = SAFE - {"releases_only_its_own", "releases_atomically"}  # predicted is whether increments are lost
FREED_AGAIN = {one.claim.name for one in FREED}


class Tone(StrEnum):
    """How the big figure is drawn. Only a promise that was kept is good."""

    GOOD = "good"
    BAD = "bad"
    PLAIN = "plain"


@dataclass(frozen=True)
class RunAnswer:
    """The answer of a run to its question."""

    # the place of the choice that came true; None if the run proves nothing
    choice: int | None
    # the big figure, and the thing that it counts; without a number, a sentence
    number: str
    words: dict[Language, str]
    tone: Tone


def of_claim(claim: str, language: Language) -> dict[str, Any]:
    """Return the question about a claim, and the choices: first its promise."""
    if claim in BY_LOSSES:
        choices = [text("answer", name, language) for name in ("none_lost", "some_lost")]
    else:
        choices = [few_words(claim, form, language) for form in ("holds", "breaks")]
    choices += [text("mark_of_lane", "nobody_gets_it", language)] if claim in FREED_AGAIN else []
    return {"text": promise(claim, language), "choices": choices}


def answer(judgement: Judgement) -> RunAnswer:
    """Return a run's answer. If only another promise was broken, the figure is that claim's."""
    claim, broken = judgement.claim, _own(judgement, judgement.claim)
    other = judgement.verdict is Verdict.BROKEN and not broken and not judgement.lost
    number, words = _figure(judgement, judgement.violations[0].claim if other else claim)
    choice = None if judgement.verdict is Verdict.VOID else _choice(judgement, broken)
    return RunAnswer(choice, number, words, _tone(judgement))


def _own(judgement: Judgement, claim: str) -> list[Violation]:
    return [violation for violation in judgement.violations if violation.claim == claim]


def _waits_ms(broken: list[Violation]) -> list[float]:
    """Return how long after each fault another request got the lock; nothing if none did."""
    waits_ms = [one.idle_ms for violation in broken for one in violation.evidence if isinstance(one, FaultOutcome)]
    known = [ms for ms in waits_ms if ms is not None]
    return known if len(known) == len(waits_ms) else []


def _choice(judgement: Judgement, broken: list[Violation]) -> int:
    if judgement.claim in BY_LOSSES:
        return int(judgement.lost > 0)
    return FOR_EVER if broken and judgement.claim in FREED_AGAIN and not _waits_ms(broken) else int(bool(broken))


def _figure(judgement: Judgement, claim: str) -> tuple[str, dict[Language, str]]:
    broken = _own(judgement, claim)
    if claim in FREED_AGAIN and (waits_ms := _waits_ms(broken)):
        ms = max(waits_ms)
        number = f"{ms / 1000:.1f} s" if ms >= 1000 else f"{ms:.0f} ms"
        return number, {one: text("answer", "next_got_in", one) for one in Language}
    of_lost, of_refused = ("lost", judgement.lost, judgement.acknowledged), ("refused", judgement.failed, judgement.requests)
    name, lost_or_refused, of = of_lost if claim in SAFE else of_refused
    if broken and not lost_or_refused:  # a broken promise is not a 0
        return "", {one: seen_facts(broken[0], one) for one in Language}
    return str(lost_or_refused), {one: text("answer", name, one, of) for one in Language}


def _tone(judgement: Judgement) -> Tone:
    """Return how the big figure is drawn: losses by another cause are not green, nor are refusals if they are the figure."""
    is_kept, is_safe = judgement.verdict is Verdict.KEPT, judgement.claim in SAFE
    if judgement.verdict in (Verdict.BROKEN, Verdict.ADMITTED) or (is_kept and is_safe and judgement.lost):
        return Tone.BAD
    return Tone.GOOD if is_kept and not judgement.lost and (is_safe or not judgement.failed) else Tone.PLAIN
