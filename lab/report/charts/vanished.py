"""Of many runs those that lost: what share of the acknowledged increments is in the counter, and what share vanished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.language import Language
from lab.report.chart import COLOURS, FEW, conditions, legend_below, title, title_width
from lab.report.run_data import Result
from lab.story.say import ENGLISH, text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def fits(results: Sequence[Result]) -> bool:
    """Return whether the runs are many, and some lost increments."""
    return len(results) > FEW and bool(losers(results))


def losers(results: Sequence[Result]) -> list[Result]:
    """Return the runs in which acknowledged increments vanished."""
    return [result for result in results if result.judgement.kept < result.judgement.acknowledged]


def height(results: Sequence[Result]) -> float:
    return 2.3 + 0.34 * len(losers(results))


def draw(axes: Axes, results: Sequence[Result], language: Language = ENGLISH) -> None:
    drawn = losers(results) or list(results)
    labels = [result.label for result in drawn]
    shares = [share(result) for result in drawn]
    axes.barh(labels, shares, color=COLOURS["counted"], height=0.7, label=text("chart", "in_counter", language))
    axes.barh(
        labels,
        [100 - one for one in shares],
        left=shares,
        color=COLOURS["lost"],
        height=0.7,
        label=text("chart", "vanished", language),
    )
    for row, one in enumerate(shares):
        stays = text("chart", "stay", language, share=f"{one:.0f}%")
        axes.annotate(stays, (100, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, 116)
    axes.set_xticks(range(0, 101, 20))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(text("chart", "of_acknowledged", language, len(results) - len(drawn)))
    legend_below(axes, language)
    title(axes, _finding(results, language), conditions(results, language), title_width(labels))


def share(result: Result) -> float:
    """Return the percentage of the acknowledged increments that is in the counter."""
    return 100 * result.judgement.kept / max(1, result.judgement.acknowledged)


def _finding(results: Sequence[Result], language: Language) -> str:
    found = losers(results)
    if not found:
        return text("chart", "nobody_lost", language, len(results))
    worst = min(found, key=share)
    kept = f"{share(worst):.0f}%"
    return text("chart", "some_lost", language, len(found), all=len(results), worst=worst.label, share=kept)
