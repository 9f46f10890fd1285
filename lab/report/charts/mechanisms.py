"""Why increments were lost: one bar for each run, with one part for each mechanism that destroyed increments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lab.report.chart import RED, conditions, legend_below, title, title_width
from lab.report.run_data import Result
from lab.text import thousands

FOR = "many"
GROWS = True
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "++", "oo")
TINTS = (0.9, 0.6, 0.4, 0.25)


def fits(results: Sequence[Result]) -> bool:
    """Return whether a run lost increments, and whether all series have the causes; those of older runs have none."""
    known = all(result.series.causes or result.judgement.lost <= 0 for result in results)
    return known and any(result.series.causes for result in results)


def draw(axes: Axes, results: Sequence[Result]) -> None:
    labels = [result.label for result in results]
    left = [0] * len(results)
    for number, mechanism in enumerate(_total(results)):
        sizes = [_destroyed(result)[mechanism] for result in results]
        tint, hatch = TINTS[number % len(TINTS)], HATCHES[number % len(HATCHES)]
        axes.barh(labels, sizes, left=left, height=0.7, facecolor=(RED, tint), hatch=hatch, edgecolor="white", label=mechanism)
        left = [before + size for before, size in zip(left, sizes, strict=True)]
    for row, total in enumerate(left):
        words = thousands(total) if total else "none"
        axes.annotate(words, (total, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, max(left) * 1.14)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("destroyed increments, including those that a later write brought back")
    legend_below(axes, 2)
    title(axes, _finding(results), conditions(results), title_width([result.label for result in results]))


def _destroyed(result: Result) -> Counter[str]:
    return Counter({cause.mechanism: cause.destroyed for cause in result.series.causes})


def _total(results: Sequence[Result]) -> list[str]:
    """Return the mechanisms, in the order of how much they destroyed in all runs, largest first."""
    total: Counter[str] = Counter()
    for result in results:
        total += _destroyed(result)
    return [mechanism for mechanism, _ in total.most_common()]


def _finding(results: Sequence[Result]) -> str:
    losers = [result for result in results if result.series.causes]
    worst = max(losers, key=lambda result: _destroyed(result).total())
    destroyed = _destroyed(worst)
    mechanism, number = destroyed.most_common(1)[0]
    share = "" if number == destroyed.total() else f" of {100 * number / destroyed.total():.0f}\u2009%"
    return f"{worst.label} destroyed the most increments, {thousands(destroyed.total())}; cause{share}: {mechanism}"
