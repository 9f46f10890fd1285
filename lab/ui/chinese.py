"""What the page of the class shows in Chinese: all that the server sends in English, with its Chinese.

The server sends both, because a projector and a phone may differ in their language. What has no phrase stays English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import unescape
from pathlib import Path
from typing import Any

from app.locks import stages
from lab.judge.judgement import Judgement
from lab.language.choice import Language
from lab.language.phrases import exactly, sentences
from lab.scenario import reader as scenarios
from lab.scenario.faults import faults
from lab.story import say, say_run
from lab.story.timeline import Timeline
from lab.story.verdict import headline, reason
from lab.ui import questions
from lab.ui.locust_environment import BUSY, UNDER_WAY
from lab.ui.page_texts import TEXTS
from lab.ui.predictions import FULL
from lab.ui.run_form import scenario_names

Chinese = dict[str, str]  # English text → Chinese text

DRAWN_TEXT = re.compile(r"<text\b[^>]*>(.*?)</text>", re.DOTALL)
MOST_LINES = 5  # of a title or a sentence in a drawing
WORD = re.compile(r"(?:[\x21-\x7e\u2009]+|.)[，。；：、）”]*")  # what no line is cut in; no line begins with a sign


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


def of_drawing(path: Path, picture: Timeline) -> list[str]:
    """Return all texts of a timeline's drawing in its order, in Chinese. A title of several lines is wrapped again.

    path: that of the drawing, an SVG file; without it there are no texts.
    """
    svg = path.read_text(encoding="utf-8") if path.is_file() else ""
    found = [unescape(re.sub("<[^>]*>", "", text)).replace("\xa0", " ") for text in DRAWN_TEXT.findall(svg)]
    title = say_run.title(picture)
    chinese = sentences("drawn", found) | {title: say_run.title(picture, Language.CHINESE)}
    shown: list[str] = []
    while len(shown) < len(found):
        lines = _lines(found[len(shown) :], [title])
        shown += _in_lines(chinese[" ".join(lines)], len(lines)) if " ".join(lines) in chinese else lines
    return shown


def _lines(found: list[str], wrapped: list[str]) -> list[str]:
    """Return the lines of the sentence with which the texts begin, or the first text."""
    sizes = (size for size in range(2, MOST_LINES + 1) if " ".join(found[:size]) in wrapped)
    return found[: next(sizes, 1)]


def _in_lines(chinese: str, lines: int) -> list[str]:
    """Return a Chinese text in as many lines as the English one has, of about the same length; names and figures are not cut."""
    words = WORD.findall(chinese)
    width = sum(map(_width, words)) / lines
    filled = [""]
    for word in words:
        if _width(filled[-1]) + _width(word) / 2 > width and len(filled) < lines:
            filled.append("")
        filled[-1] += word
    return [line.strip() for line in filled] + [""] * (lines - len(filled))


def _width(text: str) -> float:
    """Return about how wide a text is, in Chinese letters."""
    return sum(0.55 if letter.isascii() else 1 for letter in text)
