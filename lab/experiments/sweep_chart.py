"""The picture of a sweep: its finding as the title, and the drawing functions that sweeps share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from lab.experiments.sweep import Sweep
from lab.experiments.sweep_result import Curve, SweepResult
from lab.language.choice import Language
from lab.language.phrases import quoted
from lab.report.chart import write
from lab.story.lanes import wrapped
from lab.story.say import ENGLISH, text, words

BLACK = "#222222"
WIDTH_IN = 9.6
TITLE_WIDTH = 84  # characters in a line of the title


def save(sweep: Sweep, result: SweepResult, curves: Sequence[Curve], stem: Path, language: Language = ENGLISH) -> list[Path]:
    """Draw to ``stem.svg``, in English to ``stem.png`` as well, and return the paths."""

    def drawn() -> Figure:
        title = "\n".join(wrapped(heading(sweep, result, curves, language), TITLE_WIDTH))
        below = "\n".join(wrapped(conditions(result, language), TITLE_WIDTH + 12))
        lines = title.count("\n") + below.count("\n") + 2
        head_in = 0.25 * lines + 0.15
        height_in = sweep.height_in + head_in
        below_head = ConstrainedLayoutEngine(rect=(0, 0, 1, 1 - head_in / height_in))
        whole = Figure(figsize=(WIDTH_IN, height_in), layout=below_head)
        sweep.draw(whole, result, curves)
        for one in whole.findobj(Text):
            one.set_text(quoted("sweep", one.get_text(), language))
        whole.text(0.012, 1 - 0.08 / height_in, title, ha="left", va="top", fontsize=13, fontweight="bold")
        down_in = 0.12 + 0.25 * (title.count("\n") + 1)
        whole.text(0.012, 1 - down_in / height_in, below, ha="left", va="top", fontsize=10, color="#555555")
        return whole

    return write(drawn, stem, ("svg", "png") if language is ENGLISH else ("svg",))


def heading(sweep: Sweep, result: SweepResult, curves: Sequence[Curve], language: Language = ENGLISH) -> str:
    """Return the finding, with a remark if only a part of the points was measured."""
    finding: str = sweep.finding(curves, language)
    return finding + (text("sweep_page", "partly", language, what=result.partial) if result.partial else "")


def conditions(result: SweepResult, language: Language = ENGLISH) -> str:
    """Return how the points were measured, and the meaning of the bars."""
    one = result.scenario
    comma: str = words(language)["mark"]["comma"]
    known = (text("conditions", name, language, one[name], shown=one[name]) for name in ("requests", "users", "replicas"))
    return text(
        "sweep_page",
        "measured",
        language,
        conditions=comma.join([one["name"], *known]),
        repeats=text("sweep_page", "repeats" if result.repeats > 1 else "once", language, result.repeats),
        crosses=text("sweep_page", "crosses", language) if _unsound(result) else "",
    )


def _unsound(result: SweepResult) -> bool:
    return any(not point.sound for point in result.points)


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
