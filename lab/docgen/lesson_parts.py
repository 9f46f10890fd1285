"""The generated parts of docs/class.md and docs/exercises.md, in English and in Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from lab.errors import choose_from
from lab.evidence.loss import Mechanism
from lab.experiments import measurement
from lab.experiments.benchmark import BenchFile
from lab.language.choice import Language
from lab.language.phrases import quoted
from lab.paths import HOME, REFERENCE
from lab.story import say
from lab.text import table
from lab.ui.lesson import OPEN, Action, Placed, step, steps

FOLDER = HOME / "exercises"
PART = re.compile(r"^\*\*(\w+)\*\* (.+)$", re.MULTILINE)
LANGUAGES = ("en", "zh")
UP = "../"  # from docs/ to the project's top
SHOWN = ("Task", "Check", "Before", "After")  # of an exercise
HEAD = {"en": ("minutes", "step", "commands"), "zh": ("分钟", "步骤", "命令")}
ON_THE_WALL = {"en": "**On the wall:**", "zh": "**投影上的问题：**"}
IN_BRACKETS, SIGN = {"en": " ({})", "zh": "（{}）"}, {"en": "; ", "zh": "；"}
ALIKE = REFERENCE / "lesson" / "bench-lesson.json"
ALIKE_HEAD = {"en": ("step", "run", "how it ends", "runs that ended so"), "zh": ("步骤", "运行", "结果", "结果相同的次数")}
MEASURED = {
    "en": "Measured on {day} on {cores} cores, two runs at a time, at a load average of {low} to {high}.",
    "zh": "{day} 在 {cores} 核的机器上测得，每次同时进行两个运行，平均负载 {low} 到 {high}。",
}
TO_OPEN = {"en": "**Open:**", "zh": "**打开：**"}


def _title(place: Placed, language: str) -> str:
    return place.step.title if language == "en" else place.step.title_zh


def _plan(language: str = "en") -> str:
    """Return the table of all steps."""
    choose_from("language", language, LANGUAGES)
    rows = []
    for place in steps():
        does = ", ".join(_short(action) for action in place.step.actions)
        rows.append([f"{place.begins}–{place.ends}", f"{place.number}. {_title(place, language)}", does])
    return table(HEAD[language], rows)


def _short(action: Action) -> str:
    return _link(action) if action.kind == OPEN else f"`lab {action.command}`"


def _link(action: Action) -> str:
    return f"[{action.page.stem}]({UP}{action.words[0]})"


def _step(number: str, language: str = "en") -> str:
    """Return the beginning of a step: its heading, its commands, its pages, its question."""
    choose_from("language", language, LANGUAGES)
    place = step(number)
    minutes = f"minutes {place.begins} to {place.ends}" if language == "en" else f"{place.begins}–{place.ends} 分钟"
    heading = f"## {place.number}. {_title(place, language)} ({minutes})"
    if language == "zh":
        heading = heading.replace(" (", "（").replace(")", "）")
    actions = place.step.actions
    lines = [heading, ""]
    if links := [_link(action) for action in actions if action.kind == OPEN]:
        lines += [f"{TO_OPEN[language]} {', '.join(links)}", ""]
    if commands := [f".venv/bin/lab {action.command}" for action in actions if action.kind != OPEN]:
        lines += ["```sh", *commands, "```", ""]
    for run in place.step.runs:
        text, choices = (run.ask.text, run.ask.choices) if language == "en" else (run.ask.text_zh, run.ask.choices_zh)
        lines += [
            f"{ON_THE_WALL[language]} {text.format(**run.values)}{IN_BRACKETS[language].format(SIGN[language].join(choices))}",
            "",
        ]
    return "\n".join(lines)


def _runs() -> str:
    """Return how many runs the lesson makes."""
    return str(sum(len(place.step.runs) for place in steps()))


def _alike(language: str = "en") -> str:
    """Return how often each run of the lesson ended the same way, as ``lab bench lesson`` kept it."""
    choose_from("language", language, LANGUAGES)
    kept, spoken = measurement.load(ALIKE, BenchFile), Language(language)
    rows = []
    for one in kept.points:
        _, number, command = one.name.split(" ", 2)
        cause = [say.mechanism(Mechanism(one.seen["cause"]), spoken)] if one.seen["cause"] else []
        ended = say.words(spoken)["mark"]["comma"].join([one.seen["verdict"], *cause])
        rows.append([number, f"`lab {command}`", ended, f"{round(sum(one.samples))} / {len(one.samples)}"])
    low, high = (kept.points[0].seen[name] for name in ("least_load", "most_load"))
    about = MEASURED[language].format(day=kept.day, cores=kept.machine["cores"], low=low, high=high)
    return f"{table(ALIKE_HEAD[language], rows)}\n{about}\n"


def exercises() -> dict[Path, dict[str, str]]:
    """Return the parts of the docstring of each exercise, with its first line as ``Title``."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        text = path.read_text(encoding="utf-8").split('"""')[1]
        found[path] = {"Title": text.partition("\n")[0]} | dict(PART.findall(text))
    return found


def _exercises(*, language: Language = Language.ENGLISH) -> str:
    """Return the table of the exercises."""
    rows = [
        [f"[{path.stem}](../exercises/{path.name})", *(quoted("exercise", parts[name], language) for name in SHOWN)]
        for path, parts in exercises().items()
    ]
    return table([say.text("exercises", name, language) for name in ("file", *SHOWN)], rows)


PARTS: dict[str, Callable[..., str]] = {
    "lesson_plan": _plan,
    "lesson_step": _step,
    "lesson_runs": _runs,
    "lesson_alike": _alike,
    "exercises": _exercises,
}
