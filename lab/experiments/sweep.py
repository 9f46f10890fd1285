"""A sweep: one parameter over many values, each measured by runs of its own; its result, and what the pictures of sweeps share.

``lab/experiments/sweeps`` holds one sweep in each file, as ``SWEEP``: the parameter, its values, the scenario, the recorded
figures, and the drawing. The result, ``sweep.json``, has each run as a point; ``sweep_runner.py`` makes the runs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from app.lock import Stage
from lab.errors import BadInput
from lab.experiments import measurement
from lab.experiments.measurement import Measurement
from lab.judge.judgement import Judgement
from lab.language import Language
from lab.report import statistics
from lab.report.chart import LINES
from lab.report.statistics import Spread
from lab.scenario import reader as scenarios
from lab.scenario.requirements import NEEDS
from lab.scenario.scenario import Scenario, override
from lab.story.say import text, words
from lab.story.verdict import why

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

UNSOUND = ("VOID", "BROKEN")
RESULT = "sweep.json"
LOST_SHARE = "lost_share"
LOST_LOCK = "lost_lock"  # whether another request got the lock while its holder still believed to have it
SHARES = (LOST_SHARE, LOST_LOCK)
KEPT_PER_S = "kept_per_s"
FIGURES = {
    KEPT_PER_S: lambda one: one.kept_per_s,
    "wait_p50_ms": lambda one: one.wait_ms["p50"],
    "wait_p99_ms": lambda one: one.wait_ms["p99"],
    "wait_max_ms": lambda one: one.wait_ms["max"],
    "commands_per_increment": lambda one: one.commands_per_increment,
    LOST_SHARE: lambda one: max(0, one.lost) / one.acknowledged,
    LOST_LOCK: lambda one: one.overlapping_beliefs > 0,
}


def shown(figure: str, value: float) -> str:
    """Return a recorded figure with few digits: a share in per cent."""
    if figure in SHARES:
        return f"{value:.1%}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


class Point(msgspec.Struct, kw_only=True):
    """One run."""

    stage: str
    value: float
    repeat: int
    verdict: str
    reason: str  # the reason of the verdict
    run: str = ""  # its folder's name; empty where the run could not start
    acknowledged: int = 0
    lost: int = 0
    figures: dict[str, float] = {}  # the recorded figures, by name; empty where nothing was acknowledged

    @property
    def sound(self) -> bool:
        """Return whether the point may be averaged. A run that proves nothing or breaks a promise is only shown."""
        return self.verdict not in UNSOUND and bool(self.figures)


class SweepResult(Measurement[Point], kw_only=True):
    """``sweep.json``: how a sweep was made, and all points in the order in which they were measured."""

    sweep: str
    seed: int
    stages: list[str]
    values: list[float]
    repeats: int
    scenario: dict[str, Any]


class Spot(msgspec.Struct, frozen=True):
    """A stage at one value."""

    value: float
    sound: int  # how many repeats are sound
    figures: dict[str, Spread]  # the interval of each figure over the sound repeats
    unsound: list[Point]  # the points that are not averaged


class Curve(msgspec.Struct, frozen=True):
    """A stage over the values, in their order, without the values that have no point."""

    stage: str
    spots: list[Spot]

    def known(self, figure: str) -> list[tuple[float, Spread]]:
        """Return the values at which the figure was soundly measured, with its intervals."""
        return [(spot.value, spot.figures[figure]) for spot in self.spots if figure in spot.figures]


def point_of(stage: str, value: float, repeat: int, judgement: Judgement, figures: Sequence[str]) -> Point:
    """Return a judged run as a point."""
    known = {name: float(FIGURES[name](judgement)) for name in figures} if judgement.acknowledged else {}
    return Point(
        stage=stage,
        value=value,
        repeat=repeat,
        verdict=judgement.verdict,
        reason=why(judgement),
        run=judgement.run,
        acknowledged=judgement.acknowledged,
        lost=max(0, judgement.lost),
        figures=known,
    )


def curves_of(result: SweepResult) -> list[Curve]:
    """Return a curve for each stage, in the order in which the stages were given."""
    return [Curve(stage, [spot for value in result.values if (spot := _spot(result, stage, value))]) for stage in result.stages]


def _spot(result: SweepResult, stage: str, value: float) -> Spot | None:
    here = [one for one in result.points if (one.stage, one.value) == (stage, value)]
    sound = [one for one in here if one.sound]
    if not here:
        return None
    names = list(sound[0].figures) if sound else []
    return Spot(value, len(sound), {name: _interval(name, sound) for name in names}, [one for one in here if not one.sound])


def _interval(figure: str, points: Sequence[Point]) -> Spread:
    if figure == LOST_SHARE:
        return statistics.of_shares([one.lost for one in points], [one.acknowledged for one in points])
    if figure == LOST_LOCK:
        return statistics.of_shares([round(one.figures[figure]) for one in points], [1] * len(points))
    return statistics.of_amounts([one.figures[figure] for one in points])


def load_result(folder: Path) -> SweepResult:
    """Return the sweep in a folder. Raises BadInput when there is none."""
    return measurement.load(folder / RESULT, SweepResult)


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
    """Return ``7%`` or ``0.4%``: a second digit only for small shares."""
    return f"{share:.1%}" if 0 < share < 0.0095 else f"{share:.0%}"
