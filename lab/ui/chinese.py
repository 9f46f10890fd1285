"""What the page of the class shows in Chinese: all that the server sends in English, with its Chinese.

The server sends both, because a projector and a phone may differ in their language. What has no phrase stays English.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.locks import stages
from lab.judge.judgement import Judgement
from lab.language.choice import Language
from lab.language.phrases import exactly, sentences
from lab.scenario import reader as scenarios
from lab.scenario.faults import faults
from lab.story import say
from lab.story.verdict import headline, reason
from lab.ui import questions
from lab.ui.locust_environment import BUSY, UNDER_WAY
from lab.ui.page_texts import TEXTS
from lab.ui.predictions import FULL
from lab.ui.run_form import scenario_names

Chinese = dict[str, str]  # English text → Chinese text


def texts() -> dict[str, str]:
    """Return the fixed texts of the page, by their names. A text without its phrase stays English."""
    return {name: exactly("page", [text]).get(text, text) for name, text in TEXTS.items()}


def offered() -> Chinese:
    """Return what the page offers, asks and refuses: stages, scenarios, questions with their choices, the names of faults."""
    loaded = [scenarios.load(name) for name in scenario_names()]
    asked = [questions.of(one.tests.name) for one in loaded]
    titles = exactly("stage", (one.story.title for one in stages().values()))
    return {
        **{_plain(english): _plain(chinese) for english, chinese in titles.items()},
        **exactly("idea", (one.story.idea for one in stages().values())),
        **exactly("title", (one.title for one in loaded)),
        **exactly("question", (text for one in asked for text in (one.text, *one.choices))),
        **{say.fault(name): say.fault(name, Language.CHINESE) for name in faults()},
        **sentences("refusal", (BUSY, UNDER_WAY, FULL)),
    }


def _plain(title: str) -> str:
    """Return a title as the page shows it: without the signs of code."""
    return title.replace("`", "")


def of_rungs(rungs: Iterable[Mapping[str, Any]]) -> Chinese:
    """Return the reference results on the ladder."""
    return sentences("badge", {row["cell"]["said"] for row in rungs if row["cell"]})


def of_result(judgement: Judgement, counted: str) -> Chinese:
    """Return the verdict: in a few words, its reason, and what the big figure counts. counted: that, in English."""
    both = {one(judgement): one(judgement, Language.CHINESE) for one in (headline, reason)}
    return both | sentences("answer", [counted])
