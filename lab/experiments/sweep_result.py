"""What a sweep measured: every run as a point, and what repeats of one value say together. ``sweep.json``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from lab.errors import BadInput
from lab.evidence.run_folder import save as save_record
from lab.experiments import statistics
from lab.experiments.statistics import Interval
from lab.judge.judgement import Judgement

UNSOUND = ("VOID", "BROKEN")
COMPLETE = "complete"
LOST_SHARE = "lost_share"
FIGURES = {
    "throughput_per_s": lambda one: one.throughput_per_s,
    "wait_p50_ms": lambda one: one.wait_ms["p50"],
    "wait_p99_ms": lambda one: one.wait_ms["p99"],
    "wait_max_ms": lambda one: one.wait_ms["max"],
    "commands_per_increment": lambda one: one.commands_per_increment,
    LOST_SHARE: lambda one: max(0, one.lost) / one.acknowledged,
}


class Point(msgspec.Struct, kw_only=True):
    """One run. run: its folder's name, empty where it could not even begin. reason: behind the verdict, in words.

    figures: what was recorded, by name; empty where nothing was acknowledged.
    """

    stage: str
    value: float
    repeat: int
    verdict: str
    reason: str
    run: str = ""
    acknowledged: int = 0
    lost: int = 0
    figures: dict[str, float] = {}

    @property
    def sound(self) -> bool:
        """Whether it may be averaged: a run that proves nothing, or a promise broken, is shown and not mixed in."""
        return self.verdict not in UNSOUND and bool(self.figures)


class SweepResult(msgspec.Struct, kw_only=True):
    """``sweep.json``: how a sweep was made, and every point in the order in which they were measured.

    planned: how many points there should be. ended: ``complete``, or why there are fewer.
    """

    schema: int = 1
    sweep: str
    command: str
    commit: str
    started_utc: str
    seed: int
    stages: list[str]
    values: list[float]
    repeats: int
    scenario: dict[str, Any]
    planned: int
    ended: str
    versions: dict[str, str]
    machine: dict[str, Any]
    points: list[Point] = []

    @property
    def partial(self) -> str:
        """That it is, in words; empty if all was measured."""
        return "" if self.ended == COMPLETE else f"{self.ended}: {len(self.points)} of {self.planned} points were measured"


class Spot(msgspec.Struct, frozen=True):
    """A stage at a value: its interval of each figure, over the sound repeats. unsound: the points left out of them."""

    value: float
    sound: int
    figures: dict[str, Interval]
    unsound: list[Point]


class Curve(msgspec.Struct, frozen=True):
    """A stage over the values, in their order; values without a point are not there."""

    stage: str
    spots: list[Spot]

    def known(self, figure: str) -> list[tuple[float, Interval]]:
        """Where the figure was soundly measured."""
        return [(spot.value, spot.figures[figure]) for spot in self.spots if figure in spot.figures]


def point(stage: str, value: float, repeat: int, judgement: Judgement, figures: Sequence[str]) -> Point:
    """A judged run as a point."""
    known = {name: float(FIGURES[name](judgement)) for name in figures} if judgement.acknowledged else {}
    return Point(
        stage=stage,
        value=value,
        repeat=repeat,
        verdict=judgement.verdict,
        reason=judgement.why,
        run=judgement.run,
        acknowledged=judgement.acknowledged,
        lost=max(0, judgement.lost),
        figures=known,
    )


def curves(result: SweepResult) -> list[Curve]:
    """What the points say: a curve a stage, in the order in which the stages were given."""
    return [Curve(stage, [spot for value in result.values if (spot := _spot(result, stage, value))]) for stage in result.stages]


def _spot(result: SweepResult, stage: str, value: float) -> Spot | None:
    here = [one for one in result.points if (one.stage, one.value) == (stage, value)]
    sound = [one for one in here if one.sound]
    if not here:
        return None
    names = list(sound[0].figures) if sound else []
    return Spot(value, len(sound), {name: _interval(name, sound) for name in names}, [one for one in here if not one.sound])


def _interval(figure: str, points: Sequence[Point]) -> Interval:
    if figure == LOST_SHARE:
        return statistics.of_shares([one.lost for one in points], [one.acknowledged for one in points])
    return statistics.of_amounts([one.figures[figure] for one in points])


def save(result: SweepResult, folder: Path) -> None:
    """Write ``sweep.json``, whole or not at all."""
    save_record(folder / "sweep.json", result)


def load(folder: Path) -> SweepResult:
    """The sweep of a folder. Raises BadInput when there is none."""
    try:
        return msgspec.json.decode((folder / "sweep.json").read_bytes(), type=SweepResult)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{folder} holds no sweep: {error}") from None
