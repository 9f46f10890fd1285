"""What became of every increment, a bar a run: counted, lost, failed, unknown; hatched, those beyond one a request."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from lab.report.chart import COLOURS, conditions, title, title_width
from lab.report.run_data import Result
from lab.text import thousands

FOR = "many"
GROWS = True


def draw(axes: Axes, results: Sequence[Result]) -> None:
    labels = [result.label for result in results]
    left = [0] * len(results)
    for part, of in PARTS.items():
        sizes = [of(result) for result in results]
        axes.barh(labels, sizes, left=left, color=COLOURS[part], label=part, height=0.7)
        left = [before + size for before, size in zip(left, sizes, strict=True)]
    doubled = [result.judgement.duplicated for result in results]
    beyond = [result.judgement.writes - number for result, number in zip(results, doubled, strict=True)]
    hatch = {"label": "duplicated", "hatch": "////", "edgecolor": COLOURS["duplicated"]}
    axes.barh(labels, doubled, left=beyond, height=0.7, facecolor="none", linewidth=0, **hatch)  # type: ignore[arg-type] # texts
    for row, result in enumerate(results):
        axes.annotate(_words(result), (left[row], row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=10)
    axes.set_xlim(0, max(left) * 1.32)
    axes.invert_yaxis()
    axes.set_xlabel("increments written, and requests that were not; hatched: written beyond one for each request")
    axes.grid(visible=False, axis="y")
    axes.legend(loc="upper center", bbox_to_anchor=(0.38, -0.12 - 0.5 / len(results)), ncols=len(PARTS) + 1)
    title(axes, _finding(results), conditions(results), title_width(results))


PARTS: dict[str, Callable[[Result], int]] = {
    "counted": lambda result: result.judgement.writes - max(0, result.judgement.lost),
    "lost": lambda result: max(0, result.judgement.lost),
    "failed": lambda result: result.judgement.failed,
    "unknown": lambda result: result.judgement.unknown,
}


def _words(result: Result) -> str:
    judgement = result.judgement
    shares = {
        "lost": judgement.lost,
        "duplicated": judgement.duplicated,
        "failed": judgement.failed,
        "unknown": judgement.unknown,
    }
    said = [f"{thousands(number)} {name}" for name, number in shares.items() if number]
    return ", ".join(said) or "none lost"


def _finding(results: Sequence[Result]) -> str:
    losers = [result.label for result in results if result.judgement.lost]
    if not losers:
        return "Nothing was lost"
    return "Increments are lost by " + "; ".join(losers)
