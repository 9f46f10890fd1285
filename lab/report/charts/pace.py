"""Increments acknowledged a second over the time of one run. The title has the speed: increments kept a second."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import BLUE, conditions, title
from lab.report.fault_bands import shade
from lab.report.run_data import Result, rates
from lab.text import thousands

FOR = "one"
STEPS = 40  # of the time, each with one speed


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    times, speeds = rates(result.series, STEPS)
    axes.stairs(speeds, times, fill=True, color=BLUE, alpha=0.7)
    axes.set_xlabel("seconds since the first request")
    axes.set_ylabel("acknowledged a second")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    shade(axes, result.series.faults)
    judgement = result.judgement
    kept = f"kept {thousands(judgement.kept_per_s)} increments a second over {judgement.duration_s:.1f} s"
    more = f", of {thousands(judgement.throughput_per_s)} acknowledged" if judgement.lost else ""
    title(axes, f"{judgement.stage} {kept}{more}", conditions(results))
