"""The generated parts of docs/class.md and docs/exercises.md, in English and in Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from lab.evidence.loss import Mechanism
from lab.language import Language, quoted
from lab.paths import HOME
from lab.story import say
from lab.story.say import ENGLISH, text
from lab.text import table
from lab.ui.lesson import OPEN, Action, Placed, step, steps
from tools.book.experiments import kept

FOLDER = HOME / "exercises"
PART = re.compile(r"^\*\*(\w+)\*\* (.+)$", re.MULTILINE)
SHOWN = ("Task", "Check", "Before", "After")  # of an exercise


def _title(place: Placed, language: Language) -> str:
    return place.step.title if language is ENGLISH else place.step.title_zh


def _plan(*, language: Language = ENGLISH) -> str:
    """Return the table of all steps."""
    rows = []
    for place in steps():
        does = say.words(language)["mark"]["names_comma"].join(_short(action) for action in place.step.actions)
        rows.append([f"{place.begins}–{place.ends}", f"{place.number}. {_title(place, language)}", does])
    return table([text("lesson_page", name, language) for name in ("minutes", "step", "commands")], rows)


def _short(action: Action) -> str:
    return _link(action) if action.kind == OPEN else f"`lab {action.command}`"


def _link(action: Action) -> str:
    return f"[`{action.words[0]}`](play.md)"


def _step(number: str, *, language: Language = ENGLISH) -> str:
    """Return the beginning of a step: its heading, its commands, its pages, its question."""
    place, said = step(number), partial(text, "lesson_page", language=language)
    title, actions = _title(place, language), place.step.actions
    lines = [said("heading", number=place.number, title=title, begins=place.begins, ends=place.ends), ""]
    if links := [_link(action) for action in actions if action.kind == OPEN]:
        lines += [f"{said('open')} {say.words(language)['mark']['names_comma'].join(links)}", ""]
    if commands := [f".venv/bin/lab {action.command}" for action in actions if action.kind != OPEN]:
        lines += ["```sh", *commands, "```", ""]
    for run in place.step.runs:
        asked, choices = (run.ask.text, run.ask.choices) if language is ENGLISH else (run.ask.text_zh, run.ask.choices_zh)
        lines += [said("asked", question=asked.format(**run.values), choices=said("or").join(choices)), ""]
    return "\n".join(lines)


def _runs() -> str:
    """Return how many runs the lesson makes."""
    return str(sum(len(place.step.runs) for place in steps()))


def _alike(*, language: Language = ENGLISH) -> str:
    """Return how often each run of the lesson ended the same way, as it was kept."""
    result, rows = kept("lesson"), []
    for command in dict.fromkeys(point.value for point in result.points):
        points = [point for point in result.points if point.value == command]
        number, _, words = command.partition(" ")
        cause = [say.mechanism(Mechanism(points[0].reason), language)] if points[0].reason else []
        ended = say.words(language)["mark"]["comma"].join([points[0].verdict, *cause])
        alike = round(sum(point.figures["alike"] for point in points))
        rows.append([number, f"`lab {words}`", ended, f"{alike} / {len(points)}"])
    places: dict[str, Any] = {name: result.about[name] for name in ("cores", "least_load", "most_load")}
    about = text("lesson_page", "measured", language, 1, day=result.about["measured_utc"][:10], **places)
    return f"{table([text('lesson_page', name, language) for name in ('step', 'run', 'end', 'alike')], rows)}\n{about}\n"


def exercises() -> dict[Path, dict[str, str]]:
    """Return the parts of the docstring of each exercise, with its first line as ``Title``."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        doc = path.read_text(encoding="utf-8").split('"""')[1]
        found[path] = {"Title": doc.partition("\n")[0]} | dict(PART.findall(doc))
    return found


def _exercises(*, language: Language = ENGLISH) -> str:
    """Return the table of the exercises."""
    rows = [
        [f"[{path.stem}](../exercises/{path.name})", *(quoted("exercise", parts[name], language) for name in SHOWN)]
        for path, parts in exercises().items()
    ]
    return table([text("exercises", name, language) for name in ("file", *SHOWN)], rows)


PARTS: dict[str, Callable[..., str]] = {
    "lesson_plan": _plan,
    "lesson_step": _step,
    "lesson_runs": _runs,
    "lesson_alike": _alike,
    "exercises": _exercises,
}
