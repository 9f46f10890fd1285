"""How many threads of the replicas were busy: with requests that held the lock, and with requests that waited for it."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import GREEN, GREY, ORANGE, amount, conditions, title
from lab.report.fault_bands import shade
from lab.report.run_data import Result, Taken
from lab.story.timeline import locks_nothing
from lab.text import thousands

FOR = "one"


def fits(results: Sequence[Result]) -> bool:
    """Return whether a request waited for a lock, and whether the run has its threads and waits; older runs have none."""
    return all(
        result.record.threads and result.series.taken and any(result.series.taken.waiting) and not locks_nothing(result.folder)
        for result in results
    )


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    taken = result.series.taken
    if taken is None:
        return
    axes.stackplot(
        taken.at_s,
        taken.inside,
        taken.waiting,
        colors=[GREEN, ORANGE],
        labels=["hold the lock", "wait for the lock"],
        step="post",
    )
    axes.step(taken.at_s, taken.on_the_way, where="post", color=GREY, label="sent, not answered yet")
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
    """Return how many requests waited at most, whether all threads were busy, and whether the lock was granted again."""
    stage, threads = result.judgement.stage, thousands(_threads(result))
    full = max(map(sum, zip(taken.waiting, taken.inside, strict=True))) >= _threads(result)
    in_vain = max((number for at_s, number in zip(taken.at_s, taken.waiting, strict=True) if at_s > taken.last_got_s), default=0)
    if in_vain:
        filled = f"all {threads} threads busy" if full else f"with {threads} threads"
        return f"{stage}: no request got the lock after {taken.last_got_s:.2f} s; up to {thousands(in_vain)} waited, {filled}"
    filled = f"and all {threads} threads were busy" if full else f"with {threads} threads"
    return f"{stage}: up to {amount(max(taken.waiting), 'request')} waited for the lock at once, {filled}"
