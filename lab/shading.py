"""The times in which a fault hurt, shaded and labelled on a chart whose x is seconds since the first request."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from lab.chart import GREY
from lab.series import Hurt

ROWS = 3  # labels of faults that strike together are put below each other
LABELLED = 12  # more than so many could not be read


def shade(axes: Axes, strikes: Sequence[Hurt]) -> None:
    """Call it when the data is drawn. A fault over in an instant (a kill) is a line."""
    for number, hurt in enumerate(strikes):
        axes.axvspan(hurt.from_s, hurt.until_s, color=GREY, alpha=0.25, linewidth=0, zorder=0.2)
        axes.axvline(hurt.from_s, color="#555555", linestyle=":", linewidth=1.2, zorder=0.3)
        if number < LABELLED:
            _label(axes, hurt, number % ROWS)


def _label(axes: Axes, hurt: Hurt, row: int) -> None:
    late = hurt.from_s > axes.get_xlim()[1] / 2
    axes.annotate(
        f"{hurt.kind.replace('_', ' ')}, {hurt.replica}",
        (hurt.from_s, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-5 if late else 5, -12 - 14 * row),
        textcoords="offset points",
        ha="right" if late else "left",
        color="#555555",
        fontsize=9.5,
    )
