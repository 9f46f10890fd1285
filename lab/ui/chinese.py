"""What the page of the class shows in Chinese: all that the server sends in English, with its Chinese.

The server sends both, because a projector and a phone may differ in their language. What has no phrase stays English.

Questions and their choices are in ``questions.py``; titles are those of stages and scenarios.
"""

from __future__ import annotations

from app.locks import stages
from lab.judge.judgement import Judgement
from lab.language.choice import Language
from lab.language.phrases import exactly
from lab.scenario import reader as scenarios
from lab.scenario.faults import faults
from lab.story import say
from lab.story.verdict import headline, reason
from lab.ui import questions
from lab.ui.joining import NOT_JOINED, TEACHER_ONLY
from lab.ui.locust_environment import BUSY, UNDER_WAY
from lab.ui.predictions import FULL, VOTERS
from lab.ui.run_form import scenario_names

Chinese = dict[str, str]  # English text → Chinese text


def offered() -> Chinese:
    """Return what the page offers, asks and refuses: stages, scenarios, questions with their choices, the names of faults."""
    loaded = [scenarios.load(name) for name in scenario_names()]
    asked = [questions.of(one.tests.name) for one in loaded]
    titles = exactly("stage", (one.story.title for one in stages().values()))
    return {
        **{plain(english): plain(chinese) for english, chinese in titles.items()},
        **exactly("title", (one.title for one in loaded)),
        **exactly("question", (text for one in asked for text in (one.text, *one.choices))),
        **{say.fault(name): say.fault(name, Language.CHINESE) for name in faults()},
        **exactly("refusal", (BUSY, UNDER_WAY, TEACHER_ONLY, NOT_JOINED)),
        **{one.format(n=VOTERS): said.format(n=VOTERS) for one, said in exactly("refusal", [FULL]).items()},
    }


def plain(title: str) -> str:
    """Return a title as the page shows it: without the signs of code."""
    return title.replace("`", "")


def of_result(judgement: Judgement) -> Chinese:
    """Return the verdict: in a few words, and its reason."""
    return {one(judgement): one(judgement, Language.CHINESE) for one in (headline, reason)}
