"""The commands that an increment needs at the lock's store and at the counter's store, as the servers counted them."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import BLUE, FEW, ORANGE, conditions, legend_below, title, title_width
from lab.report.run_data import Result
from lab.text import thousands

FOR = "many"
GROWS = True


def fits(results: Sequence[Result]) -> bool:
    """Return whether a reader can distinguish the runs; other charts show many runs by family."""
    return len(results) <= FEW


def draw(axes: Axes, results: Sequence[Result]) -> None:
    labels = [result.label for result in results]
    lock = [_per_increment(result, "lock") for result in results]
    counter = [_per_increment(result, "counter") for result in results]
    axes.barh(labels, lock, color=ORANGE, height=0.7, label="lock's store")
    axes.barh(labels, counter, left=lock, color=BLUE, height=0.7, label="counter's store")
    for row, (a, b) in enumerate(zip(lock, counter, strict=True)):
        axes.annotate(f"{a:.1f} + {b:.1f}", (a + b, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, max([a + b for a, b in zip(lock, counter, strict=True)] + [1]) * 1.14)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("commands per increment, including those inside scripts")
    legend_below(axes, 2)
    title(axes, _finding(results, lock), conditions(results), title_width([result.label for result in results]))


def _per_increment(result: Result, store: str) -> float:
    return sum(result.record.commands.get(store, {}).values()) / max(1, result.judgement.writes)


def _finding(results: Sequence[Result], lock: Sequence[float]) -> str:
    dearest = max(range(len(results)), key=lambda index: lock[index])
    if lock[dearest] == 0:
        return "No run used a store for its lock"
    return f"{results[dearest].label} needs the most commands for its lock: {thousands(lock[dearest])} per increment"
