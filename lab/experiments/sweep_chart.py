"""What the pictures of sweeps share: curves with their intervals, and the runs that are not averaged."""

from __future__ import annotations

from matplotlib.axes import Axes

from lab.experiments.sweep_result import Curve

BLACK = "#222222"


def band(
    axes: Axes, curve: Curve, figure: str, colour: str, label: str, style: str = "-", marker: str = "o", shift: float = 0.0
) -> None:
    """Draw a figure over the values, with its interval at each as a bar. shift: to the right, so that equal curves are seen."""
    known = curve.known(figure)
    means = [one.value for _, one in known]
    below = [0.0 if one.low is None else max(0.0, one.value - one.low) for _, one in known]
    above = [0.0 if one.high is None else max(0.0, one.high - one.value) for _, one in known]
    values = [value + shift for value, _ in known]
    drawn = {"color": colour, "linestyle": style, "marker": marker, "markersize": 5, "capsize": 3, "elinewidth": 1.2}
    axes.errorbar(values, means, yerr=[below, above], label=label, **drawn)  # type: ignore[arg-type] # names and numbers


def crosses(axes: Axes, curve: Curve, figure: str) -> None:
    """Draw the runs that were not averaged; a run without the figure is at the bottom."""
    for spot in curve.spots:
        for point in spot.unsound:
            place = point.figures.get(figure, 0.0)
            axes.plot([spot.value], [place], marker="x", markersize=9, markeredgewidth=2, color=BLACK, clip_on=False, zorder=5)
            axes.annotate(point.verdict, (spot.value, place), xytext=(6, 5), textcoords="offset points", fontsize=9, color=BLACK)


def per_cent(share: float) -> str:
    """Return ``7 %`` or ``0.4 %``: a second digit only for small shares."""
    return f"{share:.1%}".replace("%", " %") if 0 < share < 0.0095 else f"{share:.0%}".replace("%", " %")
