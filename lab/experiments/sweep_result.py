"""The result of a sweep, ``sweep.json``: each run as a point, and the repeats of each value together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from lab.experiments import measurement
from lab.experiments.measurement import Measurement
from lab.judge.judgement import Judgement
from lab.report import statistics
from lab.report.statistics import Spread
from lab.story.verdict import why

UNSOUND = ("VOID", "BROKEN")
FILE = "sweep.json"
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
        return f"{value:.1%}".replace("%", " %")
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


def point(stage: str, value: float, repeat: int, judgement: Judgement, figures: Sequence[str]) -> Point:
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


def curves(result: SweepResult) -> list[Curve]:
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


def load(folder: Path) -> SweepResult:
    """Return the sweep in a folder. Raises BadInput when there is none."""
    return measurement.load(folder / FILE, SweepResult)
