"""A question to the class about one claim: the choices, the answer of a run, and the run's big figure.

The answer is computed from the judgement, so a prediction is judged by the claim that the scenario tests. For the claim that a
crash frees the lock, a run that loses nothing may still have refused most requests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from lab.judge.judgement import Judgement, Verdict, Violation
from lab.judge.promise import Bound
from lab.language import Language
from lab.story.say import ENGLISH, text, words

PROMISED = 0  # the place of the choice that the claim promises


class Tone(StrEnum):
    """How the big figure is drawn. Only a promise that was kept is good."""

    GOOD = "good"
    BAD = "bad"
    PLAIN = "plain"


@dataclass(frozen=True)
class Amount:
    """What a big figure counts: a name in the table ``answer`` of lab/story/words.toml."""

    name: str
    # how many there were in all, or of what comes with it
    n: int = 1
    # increments lost by another cause
    lost_otherwise: int = 0

    def words(self, language: Language = ENGLISH) -> str:
        """Return what stands next to the figure."""
        said = text("answer", self.name, language, self.n)
        return text("answer", "lost_otherwise", language, self.lost_otherwise, what=said) if self.lost_otherwise else said


@dataclass(frozen=True)
class RunAnswer:
    """What a run answers to its question."""

    # the place of the choice that came true; None if the run proves nothing
    choice: int | None
    # the big figure
    number: str
    counted: Amount
    # how the page draws the figure
    tone: Tone = Tone.PLAIN

    def shown(self) -> dict[str, Any]:
        """Return it as the page gets it, with its words in each language."""
        words = {language: self.counted.words(language) for language in Language}
        return {"choice": self.choice, "number": self.number, "tone": self.tone, "words": words}


Answering = Callable[[Judgement, list[Violation]], RunAnswer]


@dataclass(frozen=True)
class ClaimQuestion:
    """The question of one claim."""

    # of its text in the words of the lab
    name: str
    # what can be predicted, by the names of their texts; the first choice is what the claim promises
    choices: tuple[str, ...]
    # returns a run's answer from the judgement and its violations of this claim
    answering: Answering
    # the limits that its texts name
    bound: Bound = field(default_factory=Bound)
    # the figure that the page shows during the run: ``gap``, what is missing in the counter, or ``failed``
    live: str = "failed"
    # whether a refused request is what the claim promises
    refusals_are_good: bool = False

    def said(self, language: Language = ENGLISH) -> dict[str, Any]:
        """Return what is asked, and the choices."""
        return {"text": text("question", self.name, language), "choices": [self._choice(name, language) for name in self.choices]}

    def _choice(self, name: str, language: Language) -> str:
        bound, there = self.bound, words(language)
        names = {"within": f"{100 * bound.ttls:.0f}_{bound.ms:.0f}", "share": f"{100 * bound.share:.0f}"}
        places = {table: there[table][one] for table, one in names.items() if one in there[table]}
        return text("choice", name, language, times=bound.times, ms=f"{bound.ms:.0f}", **places)

    def shown(self, judgement: Judgement) -> RunAnswer:
        """Return what the run answers, and how it is drawn."""
        answer = self.answering(judgement, own(judgement, judgement.claim))
        counted = replace(answer.counted, lost_otherwise=0 if self.live == "gap" else judgement.lost)
        choice = None if judgement.verdict is Verdict.VOID else answer.choice
        return replace(answer, choice=choice, counted=counted, tone=self._tone(judgement, answer.number))

    def _tone(self, judgement: Judgement, number: str) -> Tone:
        """Return how the big figure is drawn: losses by another cause, and refusals that no claim counts, are not green."""
        if judgement.verdict in (Verdict.BROKEN, Verdict.ADMITTED):
            return Tone.BAD
        if judgement.verdict is not Verdict.KEPT:
            return Tone.PLAIN
        if judgement.lost:
            return Tone.BAD if self.live == "gap" else Tone.PLAIN
        refused = judgement.failed > 0 and number == str(judgement.failed) and not self.refusals_are_good
        return Tone.PLAIN if refused else Tone.GOOD


def own(judgement: Judgement, claim: str) -> list[Violation]:
    """Return the violations of one claim."""
    return [violation for violation in judgement.violations if violation.claim == claim]
