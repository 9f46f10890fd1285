"""The pen of a still timeline: it draws in microseconds and rows, keeps labels apart, and notes each mark for the legend."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path

from lab.report.still.axis import Axis
from lab.report.still.rows import Rows

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

LETTERS = 10  # points: 12 px where the picture is 850 px wide
WIDTH_PT = 9.6 * 72  # of a picture
LANE_LETTERS = 11  # points: those of the names of the lanes
GAP_PT = 1.6  # on both sides of a label
ROW_PT = 30  # a row's height, where not too many share the picture
LETTER_ROWS = 9 / ROW_PT  # the height of a label, in rows
LEGEND_COLUMNS = 3  # at most
NEXT_TOS_PT = 40  # of a column of the legend: its signs, and the distance to the next
BLACK = "#111111"
Spans = Sequence[tuple[float, float]]


@lru_cache(maxsize=4096)
def points(words: str, size: float = LETTERS, bold: bool = False) -> float:
    """Return the width of a text in points."""
    face = FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal", size=size)
    return float(text_to_path.get_text_width_height_descent(words, face, ismath=False)[0])


class Pen:
    """Each kind of mark is noted when it is drawn, and the legend explains those."""

    def __init__(self, axes: Axes, axis: Axis, rows: Rows) -> None:
        self.axes, self.axis = axes, axis
        self.marks: dict[str, Artist] = {}
        self.width_pt = WIDTH_PT - 22 - max(points(lane.name, LANE_LETTERS) for lane in rows.lanes)
        # where labels stand: since and until in points from the left, top and bottom in rows
        self.taken: list[tuple[float, float, float, float]] = []
        self.texts: list[str] = []
        # what is drawn together at the end, by its look: the corners of bars, and the ends of lines
        self.shapes: dict[tuple[str, float, float], list[list[tuple[float, float]]]] = {}
        self.lines: dict[tuple[str, float], list[list[tuple[float, float]]]] = {}

    def bars(
        self, spans: Spans, y: float, height: float, colour: str, meaning: str = "", alpha: float = 1.0, zorder: float = 1
    ) -> None:
        """Draw bars of one kind. meaning: what the legend states of them."""
        visible = [(since / 1e6, until / 1e6) for since, until in spans if since < until and self.is_visible(since, until)]
        corners = [[(since, y), (since, y + height), (until, y + height), (until, y)] for since, until in visible]
        self.shapes.setdefault((colour, alpha, zorder), []).extend(corners)
        if meaning and visible and meaning not in self.marks:
            self.marks[meaning] = Patch(color=colour, alpha=alpha, linewidth=0)

    def ticks(self, moments: Iterable[float], low: float, high: float, colour: str, meaning: str, width: float) -> None:
        """Draw moments as lines across a part of a row."""
        seconds = [at / 1e6 for at in moments if self.axis.has(at)]
        if not seconds:
            return
        self.lines.setdefault((colour, width), []).extend([(at, low), (at, high)] for at in seconds)
        if meaning not in self.marks:
            look: dict[str, Any] = {"linestyle": "none", "marker": "|", "markersize": 11, "markeredgewidth": max(1.2, width)}
            self.marks[meaning] = Line2D([], [], color=colour, **look)

    def signs(
        self,
        moments: Iterable[float],
        y: float,
        sign: str,
        meaning: str,
        colour: str = BLACK,
        size: float = 4,
        hollow: bool = False,
    ) -> None:
        """Draw moments as small signs."""
        seconds = [at / 1e6 for at in moments if self.axis.has(at)]
        if not seconds:
            return
        look: dict[str, Any] = {"color": colour, "markersize": size, "markeredgewidth": size / 3.5 if sign == "x" else 1.1}
        look |= {"markerfacecolor": "#ffffff"} if hollow else {}
        self.axes.plot(seconds, [y] * len(seconds), sign, linestyle="none", zorder=3, **look)
        self.marks.setdefault(meaning, Line2D([], [], linestyle="none", marker=sign, **look))

    def arrow(self, start: tuple[float, float], end: tuple[float, float], meaning: str, colour: str, width: float = 0.8) -> None:
        """Draw an arrow between two moments, each with its row."""
        if not (self.axis.has(start[0]) and self.axis.has(end[0])):
            return
        look = {
            "arrowstyle": "-|>",
            "color": colour,
            "linewidth": width,
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 5 + 3 * width,
        }
        places = [(at / 1e6, y) for at, y in (end, start)]
        self.axes.annotate("", places[0], xytext=places[1], arrowprops=look, zorder=0.9 if width < 1 else 3)
        self.marks.setdefault(meaning, Line2D([], [], color=colour, linestyle="none", marker="$→$", markersize=10))

    def write(
        self,
        words: str,
        at: float,
        y: float,
        side: str = "left",
        aside: float = 0,
        colour: str = BLACK,
        bold: bool = False,
        ground: bool = True,
    ) -> None:
        """Write a text, whatever is there.

        side: the text's edge that is at the moment; aside: how far from it, in points. ground: whether lines behind it are paled.
        """
        if not (words and self.axis.has(at)):
            return
        self.taken.append(self._room(words, at, y, side, aside, bold))
        self.texts.append(words)
        self.axes.annotate(
            words,
            (at / 1e6, y),
            xytext=(aside, 0),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize=LETTERS,
            color=colour,
            fontweight="bold" if bold else "normal",
            bbox={"facecolor": "#ffffff", "alpha": 0.75, "linewidth": 0, "boxstyle": "square,pad=0.05"} if ground else None,
            zorder=4,
        )

    def label(
        self,
        words: str,
        at: float,
        heights: Sequence[float],
        sides: Sequence[tuple[str, float]],
        colour: str = BLACK,
        bold: bool = False,
        ground: bool = True,
    ) -> bool:
        """Write a text at the first place where it is in view and covers no other. Return whether there was one.

        heights: the rows to try, of the text's lower edge. sides: to try, as ``write`` takes them.
        """
        for y in heights:
            for side, aside in sides:
                since, until, top, bottom = self._room(words, at, y, side, aside, bold)
                covers = any(since < b and a < until and top < d and c < bottom for a, b, c, d in self.taken)
                if since >= 0 and until <= self.width_pt and not covers:
                    self.write(words, at, y, side, aside, colour, bold, ground)
                    return True
        return False

    def _room(self, words: str, at: float, y: float, side: str, aside: float, bold: bool) -> tuple[float, float, float, float]:
        """Return the room that a text takes."""
        size = points(words, bold=bold)
        left = self.axis.place(at) * self.width_pt + aside - {"left": 0, "center": size / 2, "right": size}[side]
        return left - GAP_PT, left + size + GAP_PT, y - LETTER_ROWS, y

    @property
    def columns(self) -> int:
        """Return how many columns of the legend fit next to each other."""
        widths = [points(meaning) for meaning in self.marks]
        for columns in range(LEGEND_COLUMNS, 1, -1):
            rows = -(-len(widths) // columns)
            each = [max(widths[place : place + rows]) for place in range(0, len(widths), rows)]
            if sum(each) + len(each) * NEXT_TOS_PT <= WIDTH_PT:
                return columns
        return 1

    def is_visible(self, since: float, until: float) -> bool:
        """Return whether a part of a span is in view."""
        return since <= self.axis.until and until >= self.axis.since

    def finish(self) -> None:
        """Draw the bars and lines, and explain the marks below the picture."""
        for (colour, alpha, zorder), corners in self.shapes.items():
            bars = PolyCollection(corners, facecolors=colour, alpha=alpha, linewidths=0, zorder=zorder)
            self.axes.add_collection(bars, autolim=False)
        for (colour, width), ends in self.lines.items():
            lines = LineCollection(ends, colors=colour, linewidths=width, zorder=2)
            self.axes.add_collection(lines, autolim=False)
        figure = self.axes.figure.get_figure(root=True)
        look = {"ncols": self.columns, "fontsize": LETTERS, "columnspacing": 1.0, "handletextpad": 0.5}
        figure.legend(list(self.marks.values()), list(self.marks), loc="outside lower left", **look)
