"""Many runs in one chart: a dot a run on a logarithmic axis, its interval over repeats, and the runs of a family together.

The families are the parts of the ladder. A bar on such an axis would have a length without a meaning, so there are dots only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.locks import part, stages
from lab.language import Language, quoted
from lab.report import chart
from lab.report.chart import BLUE, FEW, RED
from lab.report.run_data import NONE, Result
from lab.report.statistics import Spread
from lab.story.say import ENGLISH, text
from lab.text import thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INCHES = 0.23  # of a row


def families(results: Sequence[Result], language: Language = ENGLISH) -> dict[str, list[Result]]:
    """Return the results by the part of the ladder that their stage belongs to, in the order of the ladder."""
    shelf = list(stages())
    found: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda one: _place(one.judgement.stage, shelf)):
        name = result.judgement.stage
        family = quoted("part", part(name), language) if name in shelf else text("chart", "own", language)
        found.setdefault(family, []).append(result)
    return found


def _place(name: str, shelf: Sequence[str]) -> int:
    return shelf.index(name) if name in shelf else len(shelf)


@dataclass(frozen=True)
class FamilyDots:
    """A chart of many runs, a dot a run."""

    # the figure of a run; None where it has none
    value: Callable[[Result], Spread | None]
    # how a figure is written next to its dot
    words: Callable[[float], str]
    # the id of the words of its axis, and of its finding: with ``_most`` the largest figure, with ``_none`` that there is none
    name: str

    def fits(self, results: Sequence[Result]) -> bool:
        """Return whether the runs are many, and one of them has the figure."""
        return len(results) > FEW and any(self.value(result) for result in results)

    def height(self, results: Sequence[Result]) -> float:
        """Return the height in inches."""
        return height(results)

    def draw(self, axes: Axes, results: Sequence[Result], language: Language = ENGLISH) -> None:
        """Draw the chart, with the run of the largest figure in its title."""
        found = [(value.value, result.label) for result in results if (value := self.value(result))]
        finding = text("chart", f"{self.name}_none", language, len(results))
        if found:
            most, stage = max(found, key=lambda one: one[0])
            finding = text("chart", f"{self.name}_most", language, stage=stage, most=thousands(most))
        draw(axes, results, language, self.value, self.words, text("chart", self.name, language), finding)


def height(results: Sequence[Result]) -> float:
    """Return the height of the chart in inches."""
    return 1.7 + INCHES * (len(results) + len(families(results)))


def draw(
    axes: Axes,
    results: Sequence[Result],
    language: Language,
    value: Callable[[Result], Spread | None],
    words: Callable[[float], str],
    label: str,
    finding: str,
) -> None:
    """Draw a row for each result under the name of its family. words: how a value is written next to its dot."""
    labels: list[str] = []
    named = families(results, language)
    for family, members in named.items():
        labels.append(family)
        for result in members:
            _dot(axes, len(labels), value(result), RED if result.judgement.lost > 0 else BLUE, words)
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
    axes.xaxis.set_major_formatter(lambda number, _: words(number))
    axes.set_xlabel(label)
    width = chart.title_width([*(result.label for result in results), *named])
    chart.title(axes, finding, chart.conditions(results, language), width)


def _dot(axes: Axes, row: int, spread: Spread | None, colour: str, words: Callable[[float], str]) -> None:
    if spread is None or spread.value <= 0:
        left = axes.get_yaxis_transform()
        axes.text(0.008, row, NONE, transform=left, va="center", fontsize=9.5, color="#666666")
        return
    value, low, high, samples = spread
    if samples > 1:
        axes.plot([max(low, value / 10), high], [row, row], color=colour, linewidth=1.6)
    axes.plot([value], [row], marker="o", markersize=6, color=colour, linewidth=0)
    axes.annotate(words(value), (max(value, high), row), xytext=(8, 0), textcoords="offset points", va="center", fontsize=9.5)
