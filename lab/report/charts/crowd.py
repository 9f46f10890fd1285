"""How full the replicas were: threads taken by requests inside the lock and by requests that waited for it, out of how many."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import GREEN, GREY, ORANGE, conditions, title
from lab.report.fault_bands import shade
from lab.report.run_data import Result, Taken
from lab.text import thousands

FOR = "one"


def fits(results: Sequence[Result]) -> bool:
    """Where somebody waited; facts from before threads and waits were kept do not tell."""
    return all(result.record.threads and result.series.taken and any(result.series.taken.waiting) for result in results)


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    taken = result.series.taken
    if taken is None:
        return
    axes.stackplot(
        taken.at_s, taken.inside, taken.waiting, colors=[GREEN, ORANGE], labels=["inside the lock", "waiting for it"], step="post"
    )
    axes.step(taken.at_s, taken.on_the_way, where="post", color=GREY, label="sent and not answered")
    threads = f"all threads: {result.record.scenario['replicas']} × {result.record.threads}"
    axes.axhline(_threads(result), color="#222222", linestyle="--", linewidth=1.2, label=threads)
    axes.set_xlabel("seconds since the first request")
    axes.set_ylabel("requests")
    axes.set_xlim(0, max(taken.at_s))
    axes.set_ylim(0, 1.15 * max(_threads(result), *taken.on_the_way))
    shade(axes, result.series.faults)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    title(axes, _finding(result, taken), conditions(results))


def _threads(result: Result) -> int:
    return int(result.record.threads * result.record.scenario["replicas"])


def _finding(result: Result, taken: Taken) -> str:
    """How many waited at most, whether that was everybody, and whether they waited for nothing."""
    stage, threads = result.judgement.stage, thousands(_threads(result))
    most = thousands(max(taken.waiting))
    full = max(map(sum, zip(taken.waiting, taken.inside, strict=True))) >= _threads(result)
    in_vain = max((number for at_s, number in zip(taken.at_s, taken.waiting, strict=True) if at_s > taken.last_got_s), default=0)
    if in_vain:
        filled = f"all {threads} threads taken" if full else f"on {threads} threads"
        return f"{stage}: nobody got the lock after {taken.last_got_s:.2f} s; up to {thousands(in_vain)} waited, {filled}"
    filled = f"and all {threads} threads were taken" if full else f"on {threads} threads"
    return f"{stage}: up to {most} waited for the lock at once, {filled}"
