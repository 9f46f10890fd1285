"""Increments kept a second, one bar for each run: an increment that was acknowledged and lost adds nothing."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import BLUE, FEW, RED, conditions, title, title_width
from lab.report.run_data import Result
from lab.text import thousands

FOR = "many"
GROWS = True


def fits(results: Sequence[Result]) -> bool:
    """Return whether a reader can distinguish the runs; other charts show many runs by family."""
    return len(results) <= FEW


def draw(axes: Axes, results: Sequence[Result]) -> None:
    rates = [result.judgement.kept_per_s for result in results]
    colours = [RED if result.judgement.lost else BLUE for result in results]
    axes.barh([result.label for result in results], rates, color=colours, height=0.7)
    for row, rate in enumerate(rates):
        axes.annotate(f"{thousands(rate)}/s", (rate, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, max([*rates, 1]) * 1.12)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("increments kept a second (red: the run lost some)")
    title(axes, _finding(results), conditions(results), title_width([result.label for result in results]))


def _finding(results: Sequence[Result]) -> str:
    safe = sorted(
        (result for result in results if not result.judgement.lost),
        key=lambda result: -result.judgement.kept_per_s,
    )
    if not safe:
        best = max(results, key=lambda result: result.judgement.kept_per_s)
        return f"Every run lost increments; {best.label} kept the most, {thousands(best.judgement.kept_per_s)} a second"
    best = safe[0]
    if len(safe) == 1:
        return f"Only {best.label} lost nothing: {thousands(best.judgement.kept_per_s)} increments kept a second"
    second = safe[1]
    ratio = best.judgement.kept_per_s / max(second.judgement.kept_per_s, 0.1)
    return f"{best.label} is the fastest run without loss: {ratio:.1f} times as fast as {second.label}"
