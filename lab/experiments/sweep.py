"""A sweep: one parameter over many values, each measured by runs of its own, and the figures that are read off them.

``lab/experiments/sweeps`` holds one a file, as ``SWEEP``: the parameter, its values, the scenario, what is recorded, and how
it is drawn. The result of a sweep is ``sweep_result.py``; ``sweep_runner.py`` makes the runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure as Canvas

from app.lock import Stage
from lab.errors import BadInput
from lab.experiments.sweep_result import Curve, SweepResult
from lab.scenario import scenario as scenarios
from lab.scenario.overrides import override
from lab.scenario.requirements import NEEDS
from lab.scenario.scenario import Scenario

START_S = 2.5  # servers up, judging, servers down: what a run takes beside its load, on an idle machine


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One file of the shelf.

    title: the question. varied: what a value is, with its unit. values, stages, repeats: unless the user says otherwise.
    settings: the scenario's parameters at a value. scenario: under which the runs are made. danger: what must have happened
    in a run for its figures to count, in place of the scenario's: the measures by their names. needs: what a stage must
    have, by the names in ``lab.scenario.NEEDS``. figures: what is recorded, with its heading. expected_s: how long the load
    of one run takes, about. finding: the sentence the data say. draw: on an empty canvas, without title. height_in: of it.
    """

    title: str
    varied: str
    values: tuple[float, ...]
    stages: tuple[str, ...]
    repeats: int
    settings: Callable[[float], Mapping[str, float]]
    scenario: str
    requests: int
    danger: Mapping[str, int] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    figures: Mapping[str, str]
    expected_s: Callable[[float, int], float]
    finding: Callable[[Sequence[Curve]], str]
    draw: Callable[[Canvas, SweepResult, Sequence[Curve]], None]
    height_in: float

    def at(self, value: float, stage: Stage, given: Mapping[str, Any]) -> Scenario:
        """The scenario of one run, fitted to the stage. Raises BadInput for a stage or value that makes no sense."""
        for need in self.needs:
            what, has = NEEDS[need]
            if not has(stage):
                raise BadInput(f"this sweep needs {what}; the stage {stage.name} does not have it")
        base = dataclasses.replace(scenarios.load(self.scenario), requests=self.requests, danger=dict(self.danger))
        return override(base, stage, {**self.settings(value), **given})


def numbers(text: str) -> tuple[float, ...]:
    """``1,2,5`` as numbers, in the order of size. Raises BadInput for what is none, not above 0, or there twice."""
    values = []
    for word in text.split(","):
        try:
            value = float(word)
        except ValueError:
            raise BadInput(f"--values: {word.strip()!r} is not a number; give numbers with commas between, as in 1,2,5") from None
        if not 0 < value < float("inf"):
            raise BadInput(f"--values: {word.strip()} is not a number above 0")
        values.append(value)
    if len(set(values)) < len(values):
        raise BadInput(f"--values: {text} holds a number twice; --repeats says how often each is measured")
    return tuple(sorted(values))


def whole(value: float) -> int | float:
    """A whole number as one, so that parameters which must be whole can be told from those which are not."""
    return int(value) if value == int(value) else value
