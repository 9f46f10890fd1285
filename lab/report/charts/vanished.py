"""Of many runs those that lost: what share of the acknowledged increments is in the counter, and what share vanished."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import COLOURS, FEW, conditions, legend_below, title, title_width
from lab.report.run_data import Result


def fits(results: Sequence[Result]) -> bool:
    """Return whether the runs are many, and some lost increments."""
    return len(results) > FEW and bool(losers(results))


def losers(results: Sequence[Result]) -> list[Result]:
    """Return the runs in which acknowledged increments vanished."""
    return [result for result in results if result.judgement.kept < result.judgement.acknowledged]


def height(results: Sequence[Result]) -> float:
    return 2.3 + 0.34 * len(losers(results))


def draw(axes: Axes, results: Sequence[Result]) -> None:
    drawn = losers(results) or list(results)
    labels = [result.label for result in drawn]
    shares = [share(result) for result in drawn]
    axes.barh(labels, shares, color=COLOURS["counted"], height=0.7, label="in the counter")
    axes.barh(labels, [100 - one for one in shares], left=shares, color=COLOURS["lost"], height=0.7, label="vanished")
    for row, one in enumerate(shares):
        axes.annotate(f"{one:.0f}\u2009% stay", (100, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, 116)
    axes.set_xticks(range(0, 101, 20))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(f"of the acknowledged increments, % (the other {len(results) - len(drawn)} runs lost none)")
    legend_below(axes, 2)
    title(axes, _finding(results), conditions(results), title_width(labels))


def share(result: Result) -> float:
    """Return the percentage of the acknowledged increments that is in the counter."""
    return 100 * result.judgement.kept / max(1, result.judgement.acknowledged)


def _finding(results: Sequence[Result]) -> str:
    found = losers(results)
    if not found:
        return f"None of {len(results)} runs lost an increment"
    worst = min(found, key=share)
    return f"{len(found)} of {len(results)} runs lost increments; {worst.label} kept only {share(worst):.0f}\u2009%"
