"""Why increments were lost: one bar for each cause. The bars add up to exactly the number of lost increments."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lab.report.chart import GREY, RED, amount, conditions, title, title_width
from lab.report.run_data import Result
from lab.story import say
from lab.text import thousands

FOR = "one"
GROWS = True


def fits(results: Sequence[Result]) -> bool:
    """Return whether the run wrote increments, and whether its series has the causes; those of older runs have none."""
    return all(result.judgement.writes and (result.series.causes or not result.judgement.lost) for result in results)


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    net = {say.mechanism(one): lost for one, lost in result.net.items()}
    if net:
        _bars(axes, net)
    else:
        _nothing(axes, result)
    title(axes, _finding(result), f"{result.label}; {conditions(results)}", title_width(list(net) or ["written"]))


def _bars(axes: Axes, net: dict[str, int]) -> None:
    axes.barh(list(net), list(net.values()), color=RED, height=0.6)
    for row, lost in enumerate(net.values()):
        axes.annotate(thousands(lost), (lost, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, max(net.values()) * 1.15)
    axes.set_ylim(max(len(net), 2) - 0.4, -0.6)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("lost increments")


def _nothing(axes: Axes, result: Result) -> None:
    axes.barh(["written", "lost"], [result.judgement.writes, 0], color=[GREY, RED], height=0.6)
    for row, number in enumerate((result.judgement.writes, 0)):
        axes.annotate(thousands(number), (number, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_ylim(1.6, -0.6)
    axes.set_xlim(0, result.judgement.writes * 1.12)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("increments")


def _all_kept(writes: int) -> str:
    return f"The counter has all {thousands(writes)} increments" if writes > 1 else "The counter has the 1 increment"


def _finding(result: Result) -> str:
    net = result.net
    if not net:
        return _all_kept(result.judgement.writes)
    worst, number = next(iter(net.items()))
    were = "was" if result.judgement.lost == 1 else "were"
    share = "" if len(net) == 1 else f" of {100 * number / result.judgement.lost:.0f}\u2009%"
    return f"{amount(result.judgement.lost, 'increment')} {were} lost; cause{share}: {say.mechanism(worst)}"
