"""Why increments were lost: how many each mechanism destroyed, largest first, and how many a later write brought back."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lab.report.chart import GREY, RED, amount, conditions, title, title_width
from lab.report.run_data import Result
from lab.text import thousands

FOR = "one"
GROWS = True


def fits(results: Sequence[Result]) -> bool:
    """Return whether the run wrote increments, and whether its series has the causes; those of older runs have none."""
    return all(result.judgement.writes and (result.series.causes or not result.judgement.lost) for result in results)


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    causes = sorted(result.series.causes, key=lambda cause: -cause.destroyed)
    if causes:
        _bars(axes, [cause.mechanism for cause in causes], [(cause.destroyed, cause.restored) for cause in causes])
    else:
        _nothing(axes, result)
    labels = [cause.mechanism for cause in causes] or ["written"]
    title(axes, _finding(result), f"{result.label}; {conditions(results)}", title_width(labels))


def _bars(axes: Axes, names: Sequence[str], sizes: Sequence[tuple[int, int]]) -> None:
    stayed = [destroyed - min(restored, destroyed) for destroyed, restored in sizes]
    back = [destroyed - left for (destroyed, _), left in zip(sizes, stayed, strict=True)]
    axes.barh(names, stayed, color=RED, height=0.6, label="not brought back")
    if any(back):
        axes.barh(names, back, left=stayed, color=RED, alpha=0.35, height=0.6, label="brought back by a later write")
        axes.legend(loc="lower right", ncols=2)
    for row, (destroyed, restored) in enumerate(sizes):
        words = thousands(destroyed) + (f", {thousands(restored)} brought back" if restored else "")
        axes.annotate(words, (destroyed, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, max(destroyed for destroyed, _ in sizes) * 1.3)
    axes.set_ylim(max(len(names) + any(back), 2) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("destroyed increments")


def _nothing(axes: Axes, result: Result) -> None:
    axes.barh(["written", "lost"], [result.judgement.writes, 0], color=[GREY, RED], height=0.6)
    for row, number in enumerate((result.judgement.writes, 0)):
        axes.annotate(thousands(number), (number, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_ylim(1.6, -0.6)
    axes.set_xlim(0, result.judgement.writes * 1.12)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("increments")


def _finding(result: Result) -> str:
    causes = result.series.causes
    if not causes:
        return "No increment was lost"
    total = sum(cause.destroyed for cause in causes)
    worst = max(causes, key=lambda cause: cause.destroyed)
    lost = max(0, result.judgement.lost)
    stayed = "" if lost == total else f", {thousands(lost)} stayed lost"
    share = "" if worst.destroyed == total else f" of {100 * worst.destroyed / total:.0f}\u2009%"
    were = "was" if total == 1 else "were"
    return f"{amount(total, 'increment')} {were} destroyed{stayed}; cause{share}: {worst.mechanism}"
