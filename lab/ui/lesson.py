"""The lesson of docs/class.md as data: its steps, with their actions and questions.

``docs/class.toml`` lists the steps, and the lab's own page gives them. The notes for the teacher are the prose of docs/class.md
and of the Chinese page; a test compares the commands and questions there with the list.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from app.locks import stages
from lab.errors import BadInput
from lab.language import Language
from lab.paths import DOCS, HOME, REPORTS
from lab.report.site import PLAY
from lab.scenario import reader
from lab.scenario.options import OPTIONS
from lab.scenario.scenario import Scenario, override
from lab.scenario.toml_types import entry_of

LIST = DOCS / "class.toml"
PAGES = {Language.ENGLISH: DOCS / "class.md", Language.CHINESE: DOCS / "zh" / "class.md"}
OPEN, RUN, EXPLORE = "open", "run", "explore"
SECTION = re.compile(r"^## (\d+)\. .*?\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
NOTE = re.compile(r"\*\*([^*]+[.。])\*\*\s*(.+)", re.DOTALL)  # its first word ends with a full stop: Ask., They say., Show.
MARKUP = re.compile(r"<!--.*?-->|[*`]|\[([^\]]+)\]\([^)]*\)", re.DOTALL)


class Action(NamedTuple):
    """One thing to do in a step."""

    # ``open``, or the name of a command of the lab
    kind: str
    # its arguments: of ``open``, the name of a level
    words: tuple[str, ...]

    @property
    def command(self) -> str:
        """Return the command as it is typed after ``lab``."""
        return shlex.join([self.kind, *self.words])

    @property
    def page(self) -> Path:
        """Return the page of the level to open."""
        return REPORTS / PLAY / f"{self.words[0]}.html"


class Ask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The question to the class before a run: about the scenario's claim, in the words of the step."""

    text: str
    text_zh: str
    choices: tuple[str, ...]
    choices_zh: tuple[str, ...]


class LessonRun(NamedTuple):
    """One run of a step."""

    stage: str
    # with the options of the command
    scenario: Scenario
    # the options of the command, as Locust's form names them
    form: dict[str, str]
    ask: Ask

    @property
    def values(self) -> dict[str, Any]:
        """Return the values that its texts may name."""
        one = self.scenario
        stopped = (getattr(fault, "for_ms", None) for fault in one.faults)
        values = {name: getattr(one, name) for name in ("requests", "users", "replicas", "ttl_ms", "work_ms")}
        return values | {"stopped_ms": next((f"{ms:g}" for ms in stopped if ms), "")}


class LessonStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step of the lesson."""

    title: str
    title_zh: str
    # how long the step takes in class
    minutes: int
    # the actions, in this order: a command without ``lab``, or ``open`` and a page
    do: tuple[str, ...]
    situation: str
    situation_zh: str
    # the lines that matter; each begins with ``+`` if this step adds it, and else with a space
    code: str
    # one for each run, in order
    ask: tuple[Ask, ...] = ()

    @property
    def actions(self) -> list[Action]:
        """Return the actions, in order."""
        return [Action(kind, tuple(words)) for kind, *words in map(shlex.split, self.do)]

    @property
    def runs(self) -> list[LessonRun]:
        """Return the runs, in order, each with its question."""
        commands = [action.words for action in self.actions if action.kind == RUN]
        return [_run(words, ask) for words, ask in zip(commands, self.ask, strict=True)]


class Placed(NamedTuple):
    """A step and its place in the lesson."""

    # counted from 1
    number: int
    # the minutes of the lesson at which it begins and ends
    begins: int
    ends: int
    step: LessonStep


@cache
def steps() -> tuple[Placed, ...]:
    """Return all steps; none if the lab is installed without its documents."""
    found: list[Placed] = []
    for entry in tomllib.loads(LIST.read_text(encoding="utf-8"))["step"] if LIST.is_file() else ():
        step = entry_of("docs/class.toml", entry, LessonStep)
        begins = found[-1].ends if found else 0
        found.append(Placed(len(found) + 1, begins, begins + step.minutes, step))
    return tuple(found)


def step(number: str | int) -> Placed:
    """Return one step. Raises BadInput for a number without a step."""
    numbers = {str(one.number): one for one in steps()}
    if str(number) not in numbers:
        raise BadInput(f"docs/class.toml: there is no step {str(number)!r}; its steps are 1 to {len(numbers)}")
    return numbers[str(number)]


def run_of(number: int, place: int) -> LessonRun | None:
    """Return a run of a step by its place, from 0; None if there is none. Raises BadInput for a number without a step."""
    return dict(enumerate(step(number).step.runs)).get(place)


def _run(words: tuple[str, ...], ask: Ask) -> LessonRun:
    """Read ``SCENARIO --stage STAGE [--OPTION VALUE]…``."""
    given = {name.removeprefix("--").replace("-", "_"): value for name, value in zip(words[1::2], words[2::2], strict=True)}
    stage = given.pop("stage")
    options = {name: OPTIONS[name].kind(value) for name, value in given.items()}
    form = {"user_count" if name == "users" else name: value for name, value in given.items()}
    return LessonRun(stage, override(reader.load(words[0]), stages()[stage], options), form, ask)


def notes(number: int, language: Language) -> list[tuple[str, str]]:
    """Return the teacher's notes for a step: questions to ask, answers to expect, things to show."""
    sections = {int(found[1]): found[2] for found in SECTION.finditer(PAGES[language].read_text(encoding="utf-8"))}
    parts = (NOTE.match(text.strip()) for text in sections[number].split("\n\n"))
    joined = "" if language is Language.CHINESE else " "
    return [(found[1], joined.join(MARKUP.sub(r"\1", found[2]).split("\n")).strip()) for found in parts if found]


def write_levels() -> None:
    """Write the levels that the lesson opens, in a process of the explorer, if one of their pages is missing."""
    pages = [action.page for place in steps() for action in place.step.actions if action.kind == OPEN]
    if not all(page.is_file() for page in pages):
        sys.stderr.write("writing the pages on which the class is the scheduler, once: some 20 s\n")
        stages = dict.fromkeys(page.stem.partition("-")[0] for page in pages)
        words = [sys.executable, "-m", "lab", "play", *stages, "--out", str(REPORTS / PLAY)]
        subprocess.run(words, env=os.environ | {"PYTHONPATH": str(HOME)}, stdout=subprocess.DEVNULL, check=False)


@cache  # each visitor's page has it
def offered(teacher: bool, language: Language) -> list[dict[str, Any]]:
    """Return the steps as the page shows them.

    teacher: whether the visitor is the teacher. Only the teacher gets the notes.
    """
    return [
        {
            "title": _in_language(place.step, "title", language),
            "minutes": [place.begins, place.ends],
            "situation": _situation(place, language),
            "code": place.step.code.strip("\n").split("\n"),
            "pages": [f"/{PLAY}/{one.page.name}" for one in place.step.actions if one.kind == OPEN],
            "commands": [f"lab {one.command}" for one in place.step.actions if one.kind == EXPLORE],
            "runs": [_offered(run, language) for run in place.step.runs],
            "notes": notes(place.number, language) if teacher else [],
        }
        for place in steps()
    ]


def _in_language(texts: LessonStep | Ask, name: str, language: Language) -> Any:
    return getattr(texts, f"{name}_zh" if language is Language.CHINESE else name)


def _situation(place: Placed, language: Language) -> str:
    values = next((run.values for run in reversed(place.step.runs)), {})
    return str(_in_language(place.step, "situation", language).format(**values))


def _offered(run: LessonRun, language: Language) -> dict[str, Any]:
    stage, scenario = stages()[run.stage], run.scenario
    return {
        "stage": run.stage,
        "scenario": scenario.name,
        "text": _in_language(run.ask, "text", language).format(**run.values),
        "choices": _in_language(run.ask, "choices", language),
        "users": scenario.users,
        "replicas": scenario.replicas,
        "mutex": run.stage == "local",
        "ttl_ms": scenario.ttl_ms if stage.ttl_ms else None,
        "fault": next((fault.effect for fault in scenario.faults), ""),
    }
