"""The counter and the acknowledged requests of one run over time. The gap between the two curves is the loss."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import COLOURS, GREEN, GREY, RED, conditions, title
from lab.report.fault_bands import shade
from lab.report.run_data import Result
from lab.text import thousands

FOR = "one"


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    curves = result.series
    sure = curves.acknowledged
    possible = [acknowledged + unknown for acknowledged, unknown in zip(sure, curves.unknown, strict=True)]
    if any(curves.unknown):
        axes.fill_between(curves.time_s, sure, possible, color=COLOURS["unknown"], alpha=0.4, label="unknown")
    axes.plot(curves.time_s, sure, color=GREEN, label="acknowledged")
    axes.plot(curves.time_s, curves.value, color=COLOURS["counter"], linestyle="--", label="the counter")
    lower = [min(value, acknowledged) for value, acknowledged in zip(curves.value, sure, strict=True)]
    if result.judgement.lost:
        axes.fill_between(curves.time_s, lower, sure, color=RED, alpha=0.18, label="lost")
    if result.judgement.stock is not None:
        axes.axhline(result.judgement.stock, color=GREY, linewidth=1, label="items to sell")
    axes.set_xlabel("seconds since the first request")
    axes.set_ylabel("increments" if result.judgement.stock is None else "sold items")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    shade(axes, result.series.faults)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    title(axes, _finding(result), conditions(results))


def _finding(result: Result) -> str:
    judgement = result.judgement
    final = "?" if judgement.final is None else thousands(judgement.final)
    if judgement.stock is not None:
        return f"{judgement.stage}: {thousands(judgement.acknowledged)} of {thousands(judgement.stock)} items sold"
    return f"{judgement.stage}: {thousands(judgement.acknowledged)} acknowledged, the counter holds {final}"
