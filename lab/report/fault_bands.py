"""The times from each fault to its recovery, marked and labelled on a chart whose x is seconds since the first request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import GREY
from lab.report.run_data import FaultBand, Result

ROWS = 3  # labels of faults at about the same time are put below each other
LANE = 0.075  # of the axes' height, for each run with a fault
LABELLED = 12  # more than so many could not be read


def shade(axes: Axes, faults: Sequence[FaultBand]) -> None:
    """Call it when the data is drawn. A fault over in an instant (a kill) is a line."""
    for number, band in enumerate(faults):
        axes.axvspan(band.from_s, band.until_s, color=GREY, alpha=0.25, linewidth=0, zorder=0.2)
        axes.axvline(band.from_s, color="#555555", linestyle=":", linewidth=1.2, zorder=0.3)
        if number < LABELLED:
            _label(axes, band, number % ROWS)


def lanes(axes: Axes, results: Sequence[Result], colours: Sequence[str]) -> None:
    """Several runs at once: above the curves a lane for each run with a fault, in its colour. Call it when all is drawn."""
    faulty = [(result, colour) for result, colour in zip(results, colours, strict=False) if result.series.faults]
    if not faulty:
        return
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, bottom + (top - bottom) / (1 - LANE * len(faulty)))
    for row, (result, colour) in enumerate(faulty):
        ymin, ymax = 1 - LANE * (row + 0.85), 1 - LANE * (row + 0.15)
        for band in result.series.faults:
            axes.axvspan(band.from_s, band.until_s, ymin, ymax, color=colour, alpha=0.3, linewidth=0)
            axes.axvline(band.from_s, color=colour, linestyle=":", linewidth=1.2, zorder=0.3)
        kinds = Counter(band.kind.replace("_", " ") for band in result.series.faults)
        said = ", ".join(kind if number == 1 else f"{kind} × {number}" for kind, number in kinds.items())
        place = (result.series.faults[0].from_s, 1 - LANE * (row + 0.5))
        _say(axes, f"{result.label}: {said}", place, (5, 0), va="center")


def _label(axes: Axes, band: FaultBand, row: int) -> None:
    _say(axes, f"{band.kind.replace('_', ' ')}, {band.replica}", (band.from_s, 1), (5, -12 - 14 * row))


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
