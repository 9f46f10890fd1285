"""The outcome of each request, one bar for each run: counted, lost, failed or unknown. Repeated increments are hatched."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from lab.report.chart import COLOURS, FEW, conditions, legend_below, title, title_width
from lab.report.run_data import Result
from lab.text import thousands

FOR = "many"
GROWS = True


def fits(results: Sequence[Result]) -> bool:
    """Return whether a reader can distinguish the runs; other charts show many runs by family."""
    return len(results) <= FEW


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
    axes.set_xlabel("increments, and requests that failed or are unknown; hatched: repeated increments of one request")
    axes.grid(visible=False, axis="y")
    legend_below(axes, len(PARTS) + 1)
    title(axes, _finding(results), conditions(results), title_width([result.label for result in results]))


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
    return ", ".join(f"{thousands(number)} {name}" for name, number in shares.items() if number) or "none lost"


def _finding(results: Sequence[Result]) -> str:
    losers = [result for result in results if result.judgement.lost > 0]
    if not losers:
        return "No run lost an increment"
    worst = max(losers, key=lambda result: result.judgement.lost)
    most = f"{worst.label} lost {thousands(worst.judgement.lost)}"
    return f"{len(losers)} of {len(results)} runs lost increments; {most}{', the most' if len(losers) > 1 else ''}"
