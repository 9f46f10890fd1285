"""The speed of many runs, as a ratio to the fastest sound run of one command: increments kept a second, by family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.language import Language
from lab.report import family_dots
from lab.report.chart import FEW
from lab.report.run_data import Result, speed_ratios
from lab.report.statistics import Spread, mean_of_ratios
from lab.story.say import ENGLISH, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CEILING = "incr"  # one command of the store: no lock can be faster


def fits(results: Sequence[Result]) -> bool:
    """Return whether the runs are many."""
    return len(results) > FEW


def height(results: Sequence[Result]) -> float:
    return family_dots.height(results)


def draw(axes: Axes, results: Sequence[Result], language: Language = ENGLISH) -> None:
    base = _base(results)
    label, finding = text("chart", "speeds", language, base=base.label), _finding(results, base, language)
    family_dots.draw(axes, results, language, lambda result: ratio(result, base), _percent, label, finding)


def _base(results: Sequence[Result]) -> Result:
    """Return the run with which all others are compared: that of one command, or else the fastest."""
    fastest = sorted(results, key=lambda result: -result.judgement.kept_per_s)
    return next((result for result in fastest if result.judgement.stage == CEILING), fastest[0])


def ratio(result: Result, base: Result) -> Spread | None:
    """Return the speed as a ratio to the other run's, round by round where both ran in the same rounds."""
    ratios = speed_ratios(result.repeats, base.repeats)
    return mean_of_ratios(ratios) if all(one > 0 for one in ratios) else None


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.01 else f"{100 * share:.1g}%"


def _finding(results: Sequence[Result], base: Result, language: Language) -> str:
    alike = [result for result in results if result.judgement.replicas == base.judgement.replicas and result is not base]
    sound = [result for result in alike if result.judgement.lost <= 0]
    if not sound:
        return text("chart", "speeds_none", language, len(results), base=base.label)
    speeds = sorted(((found.value, result.label) for result in sound if (found := ratio(result, base))), reverse=True)
    best, worst = speeds[0], speeds[-1]
    places = {"best": best[1], "most": _percent(best[0]), "worst": worst[1], "least": _percent(worst[0])}
    return text("chart", "speeds_sound", language, 1, base=base.label, **places)
