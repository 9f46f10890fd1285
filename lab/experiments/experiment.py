"""An experiment: one thing is varied, others are measured. A TOML file of ``shelf/`` declares it, in English and in Chinese.

A cell is a stage at a value. If ``against`` names a stage, each other one is measured side by side with that one.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from app.lock import Stage
from lab.errors import BadInput, choose_from
from lab.language import Language
from lab.scenario import reader as scenarios
from lab.scenario.requirements import NEEDS
from lab.scenario.scenario import Scenario, override

SHELF = Path(__file__).with_name("shelf")


class Words(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The words of an experiment in one language."""

    # the question that it answers
    title: str
    # the meaning of a value, with its unit
    varied: str
    # the answer, with places for the numbers as ``result.numbers`` names them
    finding: str
    # the answer in place of ``finding``, if the experiment's figure ``of`` is 0 at all points of the sentence
    finding_none: str = ""


class Experiment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of ``shelf/``."""

    name: str
    # the file of ``measures/`` that measures a point
    measure: Literal["run", "lock", "command"]
    # the scenario's option that a value sets; empty if the measure itself knows the values
    vary: str = ""
    # by how much a value is multiplied to become the option's
    times: float = 1
    # unless the user gives others; numbers are drawn on an axis, words as rows
    values: list[float | str]
    stages: list[str]
    repeats: int
    # the stage with which each other one is paired; empty without pairs
    against: str = ""
    # the record of each point
    figures: list[str]
    # the figure of the finding: one of ``figures``, or ``ratio``: the ratio of the first figure in pairs of runs
    of: str
    # the finding has a sentence for each of these
    each: Literal["stage", "value"] = "stage"
    # the figure of each panel of the drawing, from top to bottom
    panels: list[str]
    # the panels whose axis is logarithmic
    log: list[str] = []
    scenario: str = "rush"
    options: dict[str, int] = {}
    # the least measures of a valid run, by name, in place of the scenario's own
    danger: dict[str, int] = {}
    # the needs of a stage, by the names in ``lab.scenario.requirements.NEEDS``
    needs: list[str] = []
    # how many seconds a window of a lock alone lasts
    for_s: float = 1
    # the command line of the lab that is measured, with ``{stage}`` and ``{value}``
    command: list[str] = []
    en: Words
    zh: Words

    @property
    def has_axis(self) -> bool:
        """Return whether the values are numbers."""
        return not isinstance(self.values[0], str)

    def words(self, language: Language) -> Words:
        """Return the words in a language."""
        return self.en if language is Language.ENGLISH else self.zh

    def fitted(self, stage: Stage, value: str, given: Mapping[str, int]) -> Scenario:
        """Return the scenario of a point, fitted to the stage. Raises BadInput for a stage or a value that does not fit."""
        for need in self.needs:
            what, has = NEEDS[need]
            if not has(stage):
                raise BadInput(f"the experiment {self.name} needs {what}; the stage {stage.name} does not have it")
        varied = round(float(value) * self.times, 6) if self.vary else 0.0  # 1.1 * 200 is not quite 220
        options = {self.vary: int(varied) if varied == int(varied) else varied} if self.vary else {}
        return override(
            dataclasses.replace(scenarios.load(self.scenario), danger=self.danger), stage, {**self.options, **options, **given}
        )


def names() -> list[str]:
    """Return the names of all experiments."""
    return sorted(path.stem for path in SHELF.glob("*.toml"))


def load(name: str) -> Experiment:
    """Return an experiment by its name. Raises BadInput with the nearest name."""
    path = SHELF / f"{choose_from('experiment', name, names())}.toml"
    return msgspec.convert({"name": name, **tomllib.loads(path.read_text(encoding="utf-8"))}, Experiment)


def texts(values: Sequence[float | str]) -> list[str]:
    """Return values as results have them."""
    return [value if isinstance(value, str) else f"{value:g}" for value in values]


def chosen(experiment: Experiment, given: str | None) -> list[str]:
    """Return the values that the user gave, as in ``1,2,5``, or else the experiment's own. Raises BadInput."""
    own = texts(experiment.values)
    if given is None:
        return own
    parts = [part.strip() for part in given.split(",")]
    if not experiment.has_axis:
        return [choose_from("value", part, own, "--values") for part in dict.fromkeys(parts)]
    try:
        numbers = sorted({float(part) for part in parts})
    except ValueError:
        raise BadInput(f"--values: {given!r} is not a list of numbers, as in 1,2,5") from None
    if not 0 < numbers[0] <= numbers[-1] < float("inf"):
        raise BadInput(f"--values: {given}: each must be a number above 0")
    return texts(numbers)
