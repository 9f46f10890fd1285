"""The speed of many runs, as a ratio to the fastest sound run of one command: a dot a run, by family.

The axis is logarithmic. The families are the parts of the ladder. A bar on such an axis would have a length without a meaning, so
there are dots only, with a line from the least to the most of the repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.locks import part, stages
from lab.language import Language
from lab.report import chart
from lab.report.chart import BLUE, RED
from lab.report.run_data import NONE, Result, speed_ratios
from lab.report.statistics import Spread, geometric_mean
from lab.story.say import ENGLISH, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CEILING = "incr"  # one command of the store: no lock can be faster
INCHES = 0.23  # of a row


def draw(results: Sequence[Result], language: Language = ENGLISH) -> Figure:
    """Draw a row for each result under the name of its family."""
    base = _base(results)
    labels: list[str] = []
    named = families(results, language)
    height_in = 1 + INCHES * (len(results) + len(named))
    figure = chart.headed(_finding(results, base, language), chart.conditions(results, language), height_in)
    axes = figure.add_subplot()
    for family, members in named.items():
        labels.append(family)
        for result in members:
            _dot(axes, len(labels), ratio(result, base), RED if result.judgement.lost > 0 else BLUE)
            labels.append(result.label)
    heads = {place for place, label in enumerate(labels) if label in named}
    axes.set_xscale("log")
    axes.set_yticks(range(len(labels)), labels)
    for place, tick in enumerate(axes.get_yticklabels()):
        tick.set_fontsize(10)
        tick.set_fontweight("bold" if place in heads else "normal")
    axes.set_ylim(len(labels) - 0.4, -0.7)
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.14)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_formatter(lambda number, _: _percent(number))
    axes.set_xlabel(text("chart", "speeds", language, base=base.label))
    return figure


def families(results: Sequence[Result], language: Language = ENGLISH) -> dict[str, list[Result]]:
    """Return the results by the part of the ladder that their stage belongs to, in the order of the ladder."""
    shelf = list(stages())
    found: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda one: _place(one.judgement.stage, shelf)):
        name = result.judgement.stage
        family = text("part", part(name), language) if name in shelf else text("chart", "own", language)
        found.setdefault(family, []).append(result)
    return found


def _place(name: str, shelf: Sequence[str]) -> int:
    return shelf.index(name) if name in shelf else len(shelf)


def _base(results: Sequence[Result]) -> Result:
    """Return the run with which all others are compared: that of one command, or else the fastest."""
    fastest = sorted(results, key=lambda result: -result.judgement.kept_per_s)
    return next((result for result in fastest if result.judgement.stage == CEILING), fastest[0])


def ratio(result: Result, base: Result) -> Spread | None:
    """Return the speed as a ratio to the other run's, round by round where both ran in the same rounds."""
    ratios = speed_ratios(result.repeats, base.repeats)
    return geometric_mean(ratios) if all(one > 0 for one in ratios) else None


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


def _dot(axes: Axes, row: int, spread: Spread | None, colour: str) -> None:
    if spread is None or spread.value <= 0:
        left = axes.get_yaxis_transform()
        axes.text(0.008, row, NONE, transform=left, va="center", fontsize=9.5, color="#666666")
        return
    value, low, high, samples = spread
    if samples > 1:
        axes.plot([low, high], [row, row], color=colour, linewidth=1.6)
    axes.plot([value], [row], marker="o", markersize=6, color=colour, linewidth=0)
    axes.annotate(_percent(value), (max(value, high), row), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9.5)
