"""What every chart shares: its members, colours, size, title and conditions.

``lab/report/charts`` has one chart a file. The title of a chart is one plain sentence that states the finding. It is short, it
has the numbers, and ``lab.text.thousands`` writes them.
Colours mean the same everywhere and are safe for the colour-blind (Okabe and Ito's palette).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lab.evidence.run_folder import replace
from lab.language.choice import Language
from lab.report.run_data import Result
from lab.story import say
from lab.story.lanes import wrapped
from lab.story.say import ENGLISH
from lab.text import thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("lab.mplstyle")
GREEN, ORANGE, RED, PURPLE, GREY, BLUE = "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#999999", "#0072B2"
COLOURS = {"counted": GREEN, "lost": RED, "duplicated": PURPLE, "failed": ORANGE, "unknown": GREY, "counter": BLUE}
LINES = (BLUE, "#8B6914", "#000000", "#56B4E9", "#6A3D9A", "#B15928", "#1B7837", GREY)  # without those that have a meaning
FONTS: dict[Any, Any] = {  # a browser without the first takes the next
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
}
STYLES = ("-", "--", ":")
WIDTH_IN, LINE_IN, HEAD_WIDTH = 9.6, 0.25, 84  # of a picture, of a line in its head, and how many letters such a line has
CONDITIONS = ("requests", "users", "rate", "replicas", "retry_ms", "work_ms")
FEW = 8  # runs: with more, a reader cannot distinguish the curves


class Chart(Protocol):
    """A chart of many runs, as a file of ``lab/report/charts`` defines it."""

    def height(self, results: Sequence[Result]) -> float:
        """Return its height in inches."""

    def fits(self, results: Sequence[Result]) -> bool:
        """Return whether the chart makes sense for these results."""

    def draw(self, axes: Axes, results: Sequence[Result], language: Language = ENGLISH) -> None:
        """Draw on the axes, with title, units and labels. Change no setting outside the axes."""


def save(chart: Chart, results: Sequence[Result], path: Path, language: Language = ENGLISH) -> Path:
    """Draw a chart into an SVG file, with its words in a language. Return its path."""
    from matplotlib.figure import Figure  # here, because it takes half a second to load, and many commands draw nothing

    def drawn() -> Figure:
        figure = Figure(figsize=(WIDTH_IN, chart.height(results)), layout="constrained")
        axes = figure.add_subplot()
        chart.draw(axes, results, language)
        separate_thousands(axes)
        figure.set_label(axes.get_title(loc="left").replace("\n", " "))
        return figure

    return write(drawn, path)


def write(draw: Callable[[], Figure], path: Path, settings: Mapping[str, Any] | None = None) -> Path:
    """Draw a figure in the lab's style into a file, of the kind that its name says. Return its path.

    It is written completely or not at all, and through no link. An SVG states the figure's label as its title, and no date.
    settings: of matplotlib, beyond those of the style.
    """
    from matplotlib import style

    with style.context([STYLE, dict(settings or {})]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser draws the letters of an SVG, in fonts of its own
        figure = draw()
        about = {"Date": None} | ({"Title": figure.get_label()} if figure.get_label() else {})
        content, kind = BytesIO(), path.suffix.removeprefix(".")
        figure.savefig(content, format=kind, metadata=about if kind == "svg" else None)
    replace(path, content.getvalue())
    return path


def separate_thousands(axes: Axes) -> None:
    """Write the numbers at the ticks of linear axes with a thin space between thousands."""
    from matplotlib.ticker import ScalarFormatter

    class Formatter(ScalarFormatter):
        def __call__(self, number: float, place: int | None = None) -> str:
            return thousands(number) if number >= 1000 else super().__call__(number, place)

    for axis in (axes.xaxis, axes.yaxis):
        if type(axis.get_major_formatter()) is ScalarFormatter:
            axis.set_major_formatter(Formatter())


def legend_below(axes: Axes, language: Language) -> None:
    """Put the legend below the axes; the layout keeps room for it. How wide Chinese words are, it does not know."""
    columns = 2 if language is ENGLISH else 1
    axes.figure.get_figure(root=True).legend(loc="outside lower center", ncols=columns)


def title(axes: Axes, finding: str, conditions: str, width: int = 78) -> None:
    """Set the finding as the title, in lines of ``width`` letters, and write the conditions below it."""
    axes.set_title("\n".join(wrapped(finding, width)))
    height_in = axes.figure.get_figure(root=True).get_figheight()
    above = 1 + 0.092 / height_in  # the same distance in inches for every height
    axes.text(0, above, conditions, transform=axes.transAxes, va="bottom", ha="left", color="#555555", fontsize=10)


def headed(finding: str, conditions: str, height_in: float, colour: str = "#555555") -> Figure:
    """Return an empty figure of this height for several axes, with the finding above as the title and the conditions below it."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    title, below = wrapped(finding, HEAD_WIDTH), wrapped(conditions, HEAD_WIDTH + 38)
    head_in = LINE_IN * (len(title) + len(below)) + 0.15
    whole_in = height_in + head_in
    figure = Figure(figsize=(WIDTH_IN, whole_in), layout=ConstrainedLayoutEngine(rect=(0, 0, 1, 1 - head_in / whole_in)))
    figure.set_label(finding)
    places: dict[str, Any] = {"x": 0.012, "ha": "left", "va": "top"}
    figure.text(**places, y=1 - 0.08 / whole_in, s="\n".join(title), fontsize=13, fontweight="bold")
    down_in = 0.12 + LINE_IN * len(title)
    figure.text(**places, y=1 - down_in / whole_in, s="\n".join(below), fontsize=10, color=colour)
    return figure


def title_width(labels: Sequence[str]) -> int:
    """Return how many letters fit in a line of the title if these labels are at the left of the axes."""
    return int(85 - 0.67 * max(map(len, labels)))


def conditions(results: Sequence[Result], language: Language = ENGLISH, named: bool = True) -> str:
    """Return the conditions of the runs in words. Conditions in which the runs differ are left out. named: with the scenario."""
    scenarios = [
        {**one, "users": None if one["rate"] else one["users"]} for one in (result.record.scenario for result in results)
    ]
    common = [(name, scenarios[0][name]) for name in CONDITIONS if len({str(one[name]) for one in scenarios}) == 1]
    words = [say.condition(name, value, language) for name, value in common if value is not None]
    return say.words(language)["mark"]["comma"].join([*dict.fromkeys(one["name"] for one in scenarios if named), *words])
