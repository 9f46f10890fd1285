"""Increments acknowledged a second over the time of several runs, with the faults of each run."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import FEW, LINES, STYLES, conditions, title
from lab.report.fault_bands import lanes
from lab.report.run_data import Result, rates
from lab.text import thousands

FOR = "many"
STEPS = 24  # of the time, each with one speed


def fits(results: Sequence[Result]) -> bool:
    """Return whether a reader can distinguish so many curves."""
    return len(results) <= FEW


def draw(axes: Axes, results: Sequence[Result]) -> None:
    for number, result in enumerate(results):
        times, speeds = rates(result.series, STEPS)
        style = STYLES[number % len(STYLES)]
        axes.stairs(speeds, times, color=LINES[number], linestyle=style, linewidth=1.8, label=result.label, baseline=None)
    axes.set_xlabel("seconds since the first request of each run")
    axes.set_ylabel("acknowledged a second, lost ones too")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    lanes(axes, results, LINES)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    title(axes, _finding(results), conditions(results))


def _finding(results: Sequence[Result]) -> str:
    order = sorted(results, key=lambda result: result.judgement.kept_per_s)
    slowest, fastest = order[0], order[-1]
    slow, fast = slowest.judgement.kept_per_s, fastest.judgement.kept_per_s
    if not slow:
        return f"{fastest.label} keeps the most increments a second, {thousands(fast)}; {slowest.label} keeps none"
    speeds = f"{thousands(fast)} against {thousands(slow)}"
    return f"{fastest.label} keeps {fast / slow:.1f} times as many increments a second as {slowest.label}: {speeds}"
