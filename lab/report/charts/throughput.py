"""Acknowledged increments per second, a bar a run."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import BLUE, RED, conditions, title, title_width
from lab.report.run_data import Result
from lab.text import thousands

FOR = "many"
GROWS = True


def draw(axes: Axes, results: Sequence[Result]) -> None:
    rates = [result.judgement.throughput_per_s for result in results]
    colours = [RED if result.judgement.lost else BLUE for result in results]
    axes.barh([result.label for result in results], rates, color=colours, height=0.7)
    for row, rate in enumerate(rates):
        axes.annotate(f"{thousands(rate)}/s", (rate, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, max([*rates, 1]) * 1.12)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("acknowledged increments per second (red: some of them were lost)")
    title(axes, _finding(results), conditions(results), title_width(results))


def _finding(results: Sequence[Result]) -> str:
    safe = sorted(
        (result for result in results if not result.judgement.lost),
        key=lambda result: -result.judgement.throughput_per_s,
    )
    if len(safe) < 2:
        return "Throughput"
    best, next_best = safe[0], safe[1]
    ratio = best.judgement.throughput_per_s / max(next_best.judgement.throughput_per_s, 0.1)
    return f"Of those that lose nothing, {best.label} is fastest: {ratio:.1f} times {next_best.label}"
