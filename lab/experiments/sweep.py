"""A sweep: one parameter over many values, each measured by runs of its own; and what the pictures of sweeps share.

``lab/experiments/sweeps`` holds one sweep in each file, as ``SWEEP``: the parameter, its values,
the scenario, the recorded figures, and the drawing. The result of a sweep is in
``sweep_result.py``; ``sweep_runner.py`` makes the runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from app.lock import Stage
from lab.errors import BadInput
from lab.experiments.sweep_result import Curve, SweepResult
from lab.language.choice import Language
from lab.report.chart import LINES
from lab.scenario import reader as scenarios
from lab.scenario.overrides import override
from lab.scenario.requirements import NEEDS
from lab.scenario.scenario import Scenario
from lab.story.say import text, words

BLACK, MARKERS = "#222222", "os^Dv"
START_S = 2.5  # the time of a run beyond its load, on an idle machine: start the servers, judge, stop them


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """One file of ``sweeps``."""

    title: str  # the question
    varied: str  # the meaning of a value, with its unit
    values: tuple[float, ...]  # unless the user gives others
    stages: tuple[str, ...]  # unless the user gives others
    repeats: int  # unless the user gives another number
    settings: Callable[[float], Mapping[str, float]]  # the scenario's options at a value
    scenario: str  # the scenario of the runs
    requests: int
    # the least measures of a valid run, by name, in place of the scenario's own
    danger: Mapping[str, int] = field(default_factory=dict)
    needs: tuple[str, ...] = ()  # what a stage must have, by the names in ``lab.scenario.requirements.NEEDS``
    figures: Mapping[str, str]  # the headings of the recorded figures, by name
    expected_s: Callable[[float, int], float]  # about how long the load of one run takes
    finding: Callable[..., str]  # of the curves and a language, returns the sentence that the data show
    draw: Callable[[Canvas, SweepResult, Sequence[Curve]], None]  # draws on an empty canvas without a title
    height_in: float  # the canvas's height

    def at(self, value: float, stage: Stage, given: Mapping[str, Any]) -> Scenario:
        """Return the scenario of one run, fitted to the stage. Raises BadInput for a stage or value
        that does not fit.
        """
        for need in self.needs:
            what, has = NEEDS[need]
            if not has(stage):
                raise BadInput(f"this sweep needs {what}; the stage {stage.name} does not have it")
        base = dataclasses.replace(scenarios.load(self.scenario), requests=self.requests, danger=dict(self.danger))
        return override(base, stage, {**self.settings(value), **given})


def numbers(text: str) -> tuple[float, ...]:
    """Parse ``1,2,5`` and sort the numbers. Raises BadInput for a text that is not a number, not above
    0, or given twice.
    """
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
        raise BadInput(f"--values: {text} contains a number twice; use --repeats to measure each value several times")
    return tuple(sorted(values))


def whole(value: float) -> int | float:
    """Return a whole number as an int, because some options must be whole numbers."""
    return int(value) if value == int(value) else value


def band(
    axes: Axes, curve: Curve, figure: str, colour: str, label: str, style: str = "-", marker: str = "o", shift: float = 0.0
) -> None:
    """Draw a figure over the values, with its interval at each as a bar. shift: to the right, so that equal curves are seen."""
    known = curve.known(figure)
    means = [one.value for _, one in known]
    below = [max(0.0, one.value - one.low) for _, one in known]
    above = [max(0.0, one.high - one.value) for _, one in known]
    values = [value + shift for value, _ in known]
    drawn = {"color": colour, "linestyle": style, "marker": marker, "markersize": 5, "capsize": 3, "elinewidth": 1.2}
    axes.errorbar(values, means, yerr=[below, above], label=label, **drawn)  # type: ignore[arg-type] # names and numbers


def draw_curves(axes: Axes, curves: Sequence[Curve], figure: str, style: str = "-", apart: float = 0.0) -> None:
    """Draw a figure of all stages, and the runs that were not averaged. apart: how far the stages stand apart at one value."""
    for number, curve in enumerate(curves):
        shift = (number - (len(curves) - 1) / 2) * apart
        band(axes, curve, figure, LINES[number % len(LINES)], curve.stage, style, MARKERS[number % len(MARKERS)], shift)
        crosses(axes, curve, figure)


def found_by_stage(curves: Sequence[Curve], found: Callable[[Curve, Language], str], language: Language) -> str:
    """Return what was found of each stage as one sentence. found: of a curve; empty where nothing was soundly measured."""
    part = str(words(language)["mark"]["part"])
    return part.join(said for curve in curves if (said := found(curve, language))) or text("sweep", "nothing", language)


def crosses(axes: Axes, curve: Curve, figure: str) -> None:
    """Draw the runs that were not averaged; a run without the figure is at the bottom."""
    for spot in curve.spots:
        for point in spot.unsound:
            place = point.figures.get(figure, 0.0)
            axes.plot([spot.value], [place], marker="x", markersize=9, markeredgewidth=2, color=BLACK, clip_on=False, zorder=5)
            axes.annotate(point.verdict, (spot.value, place), xytext=(6, 5), textcoords="offset points", fontsize=9, color=BLACK)


def per_cent(share: float) -> str:
    """Return ``7 %`` or ``0.4 %``: a second digit only for small shares."""
    return f"{share:.1%}".replace("%", " %") if 0 < share < 0.0095 else f"{share:.0%}".replace("%", " %")
