"""A picture of the price of each lock against the promises it keeps, for docs/which-lock.md."""

from __future__ import annotations

from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure

from lab.docgen import cost_of_locking
from lab.report import reference
from lab.report.chart import BLUE, GREEN, RED, STYLE, title
from lab.report.reference import CEILING

DRAWN = "price.svg"


def draw(folder: Path) -> Path:
    """Write ``price.svg`` from the reference runs and the reference matrix; returns its path."""
    with style.context(STYLE):
        figure = _figure()
        path = folder / DRAWN
        figure.savefig(path, metadata={"Date": None})
    return path


def _figure() -> Figure:
    names = sorted(cost_of_locking.by_speed(), key=lambda name: (_kept(name), name))
    figure = Figure(figsize=(9.6, 1.9 + 0.42 * len(names)), layout="constrained")
    kept, price = figure.subplots(1, 2, sharey=True)
    rows = range(len(names))
    kept.barh(rows, [_kept(name) for name in names], color=GREEN, height=0.6)
    colours = [RED if reference.of_stage(name).judgement.lost else BLUE for name in names]
    price.barh(rows, [reference.share_of_ceiling(name) for name in names], color=colours, height=0.6)
    for row, name in enumerate(names):
        told = (
            f"{len(cost_of_locking.seen(name, 'KEPT'))} of {cost_of_locking.fits(name)}",
            f"{reference.share_of_ceiling(name):.0%}",
        )
        for axes, words, at in zip((kept, price), told, (_kept(name), reference.share_of_ceiling(name)), strict=True):
            axes.annotate(words, (at, row), xytext=(5, 0), textcoords="offset points", va="center", fontsize=10)
    kept.set_yticks(rows, names)
    for axes, label in ((kept, "scenarios kept, of those that fit"), (price, f"throughput, of {CEILING}'s (red: it lost some)")):
        axes.set_xlim(0, 1.22)
        axes.set_xticks([])
        axes.grid(visible=False)
        axes.spines["bottom"].set_visible(False)
        axes.set_xlabel(label)
    title(kept, _finding(), "left: the reference matrix; right: rush, the reference ladder")
    return figure


def _kept(name: str) -> float:
    return len(cost_of_locking.seen(name, "KEPT")) / max(1, cost_of_locking.fits(name))


def _finding() -> str:
    locks = cost_of_locking.locks()
    shares = [reference.share_of_ceiling(name) for name in locks]
    kept = [_kept(name) for name in locks]
    return f"A lock leaves {min(shares):.0%} to {max(shares):.0%} of the throughput, and keeps {min(kept):.0%} to {max(kept):.0%}"
