"""The counter and the acknowledged requests of several runs over time. The gap between two curves is the loss."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from lab.report.chart import FEW, GREY, LINES, conditions, title
from lab.report.fault_bands import lanes
from lab.report.run_data import Result
from lab.text import thousands

FOR = "many"


def fits(results: Sequence[Result]) -> bool:
    """Return whether a reader can distinguish so many curves."""
    return len(results) <= FEW


def draw(axes: Axes, results: Sequence[Result]) -> None:
    for number, result in enumerate(results):
        _lay(axes, result, LINES[number])
    axes.set_xlabel("seconds since the first request of each run")
    axes.set_ylabel("increments")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    lanes(axes, results, LINES)
    solid, dashed = (Line2D([], [], color=GREY, linestyle=style) for style in ("-", "--"))
    shown, labels = axes.get_legend_handles_labels()
    axes.legend([*shown, solid, dashed], [*labels, "the counter", "acknowledged"], loc="center left", bbox_to_anchor=(1.0, 0.5))
    title(axes, _finding(results), conditions(results))


def _lay(axes: Axes, result: Result, colour: str) -> None:
    """Draw the counter and the acknowledged requests, the loss between them, and the unknown requests above them."""
    curves = result.series
    possible = [sure + unknown for sure, unknown in zip(curves.acknowledged, curves.unknown, strict=True)]
    lower = [min(value, sure) for value, sure in zip(curves.value, curves.acknowledged, strict=True)]
    axes.fill_between(curves.time_s, lower, curves.acknowledged, color=colour, alpha=0.12, linewidth=0)
    axes.fill_between(curves.time_s, curves.acknowledged, possible, color=GREY, alpha=0.4, linewidth=0)
    axes.plot(curves.time_s, curves.acknowledged, color=colour, linestyle="--", linewidth=1.4)
    axes.plot(curves.time_s, curves.value, color=colour, label=result.label)


def _finding(results: Sequence[Result]) -> str:
    losers = [result for result in results if result.judgement.lost > 0]
    if not losers:
        return "No run lost an increment"
    worst = max(losers, key=lambda result: result.judgement.acknowledged - (result.judgement.final or 0))
    judgement = worst.judgement
    final = "?" if judgement.final is None else thousands(judgement.final)
    others = len(results) - len(losers)
    rest = f"; {others} of {len(results)} runs lost nothing" if others else ""
    return f"{worst.label}: {thousands(judgement.acknowledged)} acknowledged, the counter holds {final}{rest}"
