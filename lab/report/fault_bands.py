"""Mark and label each fault, from its begin to its recovery, on a chart whose x axis is seconds since the first request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.report.chart import GREY
from lab.report.run_data import FaultBand, Result

ROWS = 3  # labels of faults at about the same time are put in rows
LANE = 0.075  # height of the lane of one run, as a part of the axes' height
LABELLED = 12  # faults that get a label; more labels could not be read


def shade(axes: Axes, faults: Sequence[FaultBand]) -> None:
    """Mark the faults of one run, after its data was drawn. A fault that ends at once (a kill) is a line."""
    for number, band in enumerate(faults):
        axes.axvspan(band.from_s, band.until_s, color=GREY, alpha=0.25, linewidth=0, zorder=0.2)
        axes.axvline(band.from_s, color="#555555", linestyle=":", linewidth=1.2, zorder=0.3)
        if number < LABELLED:
            _label(axes, band, number % ROWS)


def lanes(axes: Axes, results: Sequence[Result], colours: Sequence[str]) -> None:
    """Draw a lane above the curves for each run with a fault, in the run's colour, after the data was drawn."""
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
        faults = ", ".join(kind if number == 1 else f"{kind} × {number}" for kind, number in kinds.items())
        place = (result.series.faults[0].from_s, 1 - LANE * (row + 0.5))
        _write(axes, f"{result.label}: {faults}", place, (5, 0), va="center")


def _label(axes: Axes, band: FaultBand, row: int) -> None:
    _write(axes, f"{band.kind.replace('_', ' ')}, {band.replica}", (band.from_s, 1), (5, -12 - 14 * row))


def _write(axes: Axes, text: str, place: tuple[float, float], offset: tuple[int, int], va: str = "baseline") -> None:
    """Write a text to the left or right of a moment, where there is room.

    place: the moment in seconds, and the height as a part of the axes' height. offset: in points.
    """
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
