"""The lesson of docs/class.md as data: its steps, the commands of each, and the question that a run puts to the class.

``docs/class.toml`` lists the steps. ``lab class`` gives them in the terminal, and ``lab docs`` writes them into the pages.
"""

from __future__ import annotations

import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from lab.errors import BadInput, choose_from
from lab.paths import DOCS, HOME
from lab.scenario import reader
from lab.ui import questions
from lab.ui.question import ClaimQuestion

LIST = DOCS / "class.toml"
OPEN, RUN, DIFF = "open", "run", "diff"
KINDS = (RUN, OPEN, DIFF, "explore")


class Action(NamedTuple):
    """One thing to do in a step."""

    # ``open``, or the name of a command of the lab
    kind: str
    # what follows it
    words: tuple[str, ...]

    @property
    def command(self) -> str:
        """Return the command as it is typed after ``lab``."""
        return shlex.join([self.kind, *self.words])

    @property
    def page(self) -> Path:
        """Return the page to open."""
        return HOME / self.words[0]

    @property
    def question(self) -> ClaimQuestion | None:
        """Return the question of the claim that a run tests; None where nothing is run."""
        return questions.of(reader.load(self.words[0]).tests.name) if self.kind == RUN else None


class LessonStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step of the lesson."""

    title: str
    # the same in Chinese
    title_zh: str
    # how long the step takes in class
    minutes: int
    # what is done, in this order: a command without ``lab``, or ``open`` and a page
    do: tuple[str, ...]

    @property
    def actions(self) -> list[Action]:
        """Return what is done, in order."""
        return [Action(kind, tuple(words)) for kind, *words in map(shlex.split, self.do)]


class Placed(NamedTuple):
    """A step, and where it stands in the lesson."""

    # counted from 1
    number: int
    # the minutes of the lesson at which it begins and ends
    begins: int
    ends: int
    step: LessonStep


@cache
def steps() -> tuple[Placed, ...]:
    """Return all steps. Raises BadInput, naming the entry."""
    found: list[Placed] = []
    for entry in tomllib.loads(LIST.read_text(encoding="utf-8"))["step"]:
        step = _checked(entry)
        begins = found[-1].ends if found else 0
        found.append(Placed(len(found) + 1, begins, begins + step.minutes, step))
    return tuple(found)


def step(number: str | int) -> Placed:
    """Return one step. Raises BadInput for a number without a step."""
    numbers = {str(one.number): one for one in steps()}
    return numbers[choose_from("step", str(number), numbers, "docs/class.toml")]


def _checked(entry: dict[str, object]) -> LessonStep:
    try:
        found = msgspec.convert(entry, LessonStep)
    except msgspec.ValidationError as error:
        raise BadInput(f"docs/class.toml: {entry}: {error}") from None
    for action in found.actions:
        choose_from("action", action.kind, KINDS, f"docs/class.toml: {found.title}")
        if action.kind == OPEN and not action.page.is_file():
            raise BadInput(f"docs/class.toml: {found.title}: there is no page {action.words[0]}")
    return found
