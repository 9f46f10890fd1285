"""The times in which a fault hurt, marked and labelled on a chart whose x is seconds since the first request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import GREY
from lab.report.run_data import Hurt, Result

ROWS = 3  # labels of faults that strike together are put below each other
LANE = 0.075  # of the axes' height, for each run that was struck
LABELLED = 12  # more than so many could not be read


def shade(axes: Axes, strikes: Sequence[Hurt]) -> None:
    """Call it when the data is drawn. A fault over in an instant (a kill) is a line."""
    for number, hurt in enumerate(strikes):
        axes.axvspan(hurt.from_s, hurt.until_s, color=GREY, alpha=0.25, linewidth=0, zorder=0.2)
        axes.axvline(hurt.from_s, color="#555555", linestyle=":", linewidth=1.2, zorder=0.3)
        if number < LABELLED:
            _label(axes, hurt, number % ROWS)


def lanes(axes: Axes, results: Sequence[Result], colours: Sequence[str]) -> None:
    """Several runs at once: above the curves a lane for each run that was struck, in its colour. Call it when all is drawn."""
    struck = [(result, colour) for result, colour in zip(results, colours, strict=False) if result.series.strikes]
    if not struck:
        return
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, bottom + (top - bottom) / (1 - LANE * len(struck)))
    for row, (result, colour) in enumerate(struck):
        ymin, ymax = 1 - LANE * (row + 0.85), 1 - LANE * (row + 0.15)
        for hurt in result.series.strikes:
            axes.axvspan(hurt.from_s, hurt.until_s, ymin, ymax, color=colour, alpha=0.3, linewidth=0)
            axes.axvline(hurt.from_s, color=colour, linestyle=":", linewidth=1.2, zorder=0.3)
        kinds = Counter(hurt.kind.replace("_", " ") for hurt in result.series.strikes)
        said = ", ".join(kind if number == 1 else f"{kind} × {number}" for kind, number in kinds.items())
        place = (result.series.strikes[0].from_s, 1 - LANE * (row + 0.5))
        _say(axes, f"{result.label}: {said}", place, (5, 0), va="center")


def _label(axes: Axes, hurt: Hurt, row: int) -> None:
    _say(axes, f"{hurt.kind.replace('_', ' ')}, {hurt.replica}", (hurt.from_s, 1), (5, -12 - 14 * row))


def _say(axes: Axes, text: str, place: tuple[float, float], offset: tuple[int, int], va: str = "baseline") -> None:
    """Beside a moment, on the side that has room. place: seconds, and the height as a share of the axes'."""
    late = place[0] > axes.get_xlim()[1] / 2
    axes.annotate(
        text,
        place,
        xycoords=("data", "axes fraction"),
        xytext=(-offset[0] if late else offset[0], offset[1]),
        textcoords="offset points",
        ha="right" if late else "left",
        va=va,
        color="#333333" if va == "center" else "#555555",
        fontsize=9.5,
    )
