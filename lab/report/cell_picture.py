"""A cell of the matrix as a picture: a ground, a sign and a word. And a sheet whose units are pixels, to put it on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from lab.report.palette import HARMS, MEANINGS, SIGNS, Mark, Paper

PER_INCH = 96  # px: a browser shows an inch of an SVG so
FONTS: dict[Any, Any] = {  # a browser without the first takes the next
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
}
IN_FULL = {
    Mark.OTHERWISE: "kept, but lost otherwise",
    Mark.UNTRIED: "not tried",
    Mark.IMPOSSIBLE: "does not fit",
    Mark.NOTHING: "proves nothing",
}


def sheet(width: int, height: int, paper: Paper) -> tuple[Figure, Axes]:
    """Return a figure of this size in px, and axes with the same units; the first row is at the top."""
    figure = Figure(figsize=(width / PER_INCH, height / PER_INCH), facecolor=paper.page)
    axes = figure.add_axes((0, 0, 1, 1), facecolor=paper.page)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure, axes


def draw_mark(
    axes: Axes, box: tuple[float, float, float, float], mark: Mark, paper: Paper, letters: float = 9, broken: bool = False
) -> None:
    """Draw a mark into a box: left, top, width, height. A high box has the sign above the word.

    broken: whether the stage had promised the opposite; then the mark has a frame.
    """
    x, y, width, height = box
    ink, high = paper.ink[mark], height > 2.6 * letters
    middle = (x + width / 2, y + height / 2)
    if mark is Mark.IMPOSSIBLE:
        axes.plot(*([one] for one in middle), marker="o", markersize=2.2, color=ink, linewidth=0)
        return
    _ground(axes, box, mark, paper, broken)
    if mark is Mark.KEPT:
        _tick(axes, middle, min(width, height) / 5, ink)
    elif mark is Mark.OTHERWISE:
        _tick(axes, (middle[0] - (0 if high else width / 8), middle[1] - (letters * 0.75 if high else 0)), letters / 1.7, ink)
        if high:
            axes.text(middle[0], middle[1] + letters * 0.9, "(lost)", fontsize=letters, color=ink, ha="center", va="center")
        else:
            axes.text(middle[0] + width / 5, middle[1], "!", fontsize=letters, color=ink, ha="center", va="center", weight="bold")
    elif mark in HARMS and high:
        axes.text(
            middle[0],
            middle[1] - letters * 0.85,
            SIGNS[mark],
            fontsize=letters + 3,
            color=ink,
            ha="center",
            va="center",
            weight="bold",
        )
        axes.text(
            middle[0],
            middle[1] + letters * 0.75,
            mark.value,
            fontsize=letters,
            color=ink,
            ha="center",
            va="center",
            weight="bold",
        )
    elif mark in HARMS or mark is Mark.NOTHING:
        words = mark.value if mark in HARMS else SIGNS[mark]
        axes.text(*middle, words, fontsize=letters, color=ink, ha="center", va="center", weight="bold")


def _ground(axes: Axes, box: tuple[float, float, float, float], mark: Mark, paper: Paper, broken: bool) -> None:
    x, y, width, height = box
    look = {"facecolor": paper.ground[mark], "linewidth": 0.0, "edgecolor": "none"}
    if mark is Mark.UNTRIED:
        look |= {"linewidth": 0.9, "edgecolor": paper.soft, "linestyle": (0, (2, 2))}
    if mark is Mark.OTHERWISE:
        look |= {"linewidth": 1.2, "edgecolor": paper.vanished}
    if broken:
        look |= {"linewidth": 2.2, "edgecolor": paper.text}
    axes.add_patch(FancyBboxPatch((x + 2, y + 2), width - 4, height - 4, boxstyle="round,pad=2,rounding_size=3", **look))  # type: ignore[arg-type] # settings of a patch


def _tick(axes: Axes, at: tuple[float, float], size: float, colour: str) -> None:
    x, y = at
    axes.plot(
        [x - size, x - size / 4, x + size],
        [y, y + size * 0.75, y - size * 0.8],
        color=colour,
        linewidth=1.8,
        solid_joinstyle="round",
        solid_capstyle="round",
    )


def legend(
    axes: Axes,
    place: tuple[float, float, float],
    shown: Sequence[Mark],
    paper: Paper,
    letters: float = 9,
    explained: bool = False,
) -> float:
    """Draw the marks with their words, in lines. Return the middle of the last line.

    place: the left end, the middle of the first line, the right end. explained: whether each mark gets its meaning.
    """
    left, top, right = place
    x, y = left, top
    for mark in shown:
        words = f"{mark.value}: {MEANINGS[mark]}" if explained else IN_FULL.get(mark, mark.value)
        needs = 34 + 7.1 * letters / 9 * len(words)
        if x + needs > right:
            x, y = left, y + 24
        if mark in HARMS:
            axes.add_patch(Rectangle((x, y - 8), 22, 16, facecolor=paper.ground[mark], linewidth=0))
            axes.text(x + 11, y, SIGNS[mark], fontsize=letters, color=paper.ink[mark], ha="center", va="center", weight="bold")
        else:
            draw_mark(axes, (x, y - 8, 22, 16), mark, paper, letters)
        axes.text(x + 28, y, words, fontsize=letters, color=paper.text, va="center")
        x += needs + 14
    return y
