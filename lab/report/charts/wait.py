"""How long requests waited for the lock: the share of the grants that waited at most so many milliseconds."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import FEW, LINES, STYLES, conditions, title
from lab.report.run_data import Result
from lab.story.timeline import locks_nothing
from lab.text import thousands

FOR = "any"
LEAST_MS = 0.001  # shorter waits are drawn here: a logarithmic axis has no zero


def fits(results: Sequence[Result]) -> bool:
    """Return whether a request asked for a lock, and the curves are few. The single run of a stage without a lock has no wait."""
    return 1 < len(results) <= FEW or (
        len(results) == 1 and bool(results[0].series.wait_ms) and not locks_nothing(results[0].folder)
    )


def draw(axes: Axes, results: Sequence[Result]) -> None:
    results = [result for result in results if result.series.wait_ms] or results  # a stage without a lock has no waits
    for number, result in enumerate(results):
        waits = [max(wait, LEAST_MS) for wait in result.series.wait_ms]
        style = STYLES[number // len(LINES) % len(STYLES)]
        axes.step(
            waits,
            result.series.wait_share,
            where="post",
            color=LINES[number % len(LINES)],
            linestyle=style,
            label=result.label,
        )
    axes.set_xscale("log")
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_formatter(lambda ms, _: thousands(ms) if ms >= 1 else f"{ms:g}")
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}\u2009%")
    axes.set_xlabel("wait for the lock, ms (logarithmic)")
    axes.set_ylabel("share of the grants")
    if len(results) > 1:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    title(axes, _finding(results), conditions(results))


def _finding(results: Sequence[Result]) -> str:
    slowest = max(results, key=lambda result: result.judgement.wait_ms["p99"])
    waits = slowest.judgement.wait_ms
    if len(results) == 1:
        return f"{slowest.label}: half of the grants waited under {_ms(waits['p50'])}, 1 in 100 over {_ms(waits['p99'])}"
    return f"{slowest.label} has the longest waits: 1 in 100 grants waited over {_ms(waits['p99'])}"


def _ms(value: float) -> str:
    return f"{thousands(value)} ms" if value >= 10 else f"{value:.2g} ms"
