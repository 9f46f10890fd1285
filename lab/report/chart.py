"""A chart: ``draw(axes, results)`` on axes it is given, with a title that states the finding.

``lab/report/charts`` holds one a file. Each says for what it is: ``FOR = "one"`` run, ``"many"`` side by side, or ``"any"``.
Colours mean the same everywhere and are safe for the colour-blind (Okabe and Ito's palette).
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lab.report.run_data import Result
from lab.text import thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLE = Path(__file__).with_name("lab.mplstyle")
GREEN, ORANGE, RED, PURPLE, GREY, BLUE = "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#999999", "#0072B2"
COLOURS = {"counted": GREEN, "lost": RED, "duplicated": PURPLE, "failed": ORANGE, "unknown": GREY, "counter": BLUE}
LINES = (BLUE, RED, GREEN, PURPLE, ORANGE, "#56B4E9", "#000000", GREY, "#8B6914", "#6A3D9A", "#B15928", "#1B7837")
STYLES = ("-", "--", ":")
FEW = 8  # runs whose curves can still be told apart when they lie over each other


class Chart(Protocol):
    """A file of the shelf. HEIGHT: in inches, for so many runs; 4 where it does not matter."""

    FOR: str

    def draw(self, axes: Axes, results: Sequence[Result]) -> None:
        """Draw, with title, units and labels. Nothing global is touched."""


def save(chart: Chart, results: Sequence[Result], stem: Path, kinds: Sequence[str] = ("svg",)) -> list[Path]:
    """Draw to ``stem.svg`` and so on; returns the paths."""
    from matplotlib import style  # takes half a second, which who does not draw need not wait for
    from matplotlib.figure import Figure

    with style.context(STYLE):
        height = 1.9 + 0.42 * len(results) if getattr(chart, "GROWS", False) else max(4.6, 1 + 0.22 * len(results))
        figure = Figure(figsize=(9.6, height), layout="constrained")
        chart.draw(figure.add_subplot(), results)
        paths = [stem.with_name(f"{stem.name}.{kind}") for kind in kinds]
        for path in paths:
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths


def title(axes: Axes, finding: str, conditions: str, width: int = 78) -> None:
    """The finding as the title, in lines of so many letters, the conditions below it."""
    axes.set_title(textwrap.fill(finding, width))
    height_in = axes.figure.get_figure(root=True).get_figheight()
    above = 1 + 0.092 / height_in  # as far below the title, however tall the chart
    axes.text(0, above, conditions, transform=axes.transAxes, va="bottom", ha="left", color="#555555", fontsize=10)


def title_width(results: Sequence[Result]) -> int:
    """How many letters a title's line has room for, where the runs' names stand at the left of the axes."""
    return int(85 - 0.67 * max(len(result.label) for result in results))


def conditions(results: Sequence[Result]) -> str:
    """Under what the runs were made; what differs between them is left out."""
    scenario = [result.record.scenario for result in results]
    parts: list[tuple[str, Callable[[dict[str, object]], object]]] = [
        ("{} requests", lambda one: thousands(int(str(one["requests"])))),
        ("{} users", lambda one: "no" if one["rate"] else one["users"]),
        ("{} arrivals/s", lambda one: one["rate"]),
        ("{} replicas", lambda one: one["replicas"]),
        ("retry {} ms", lambda one: one["retry_ms"]),
        ("work {} ms", lambda one: one["work_ms"]),
    ]
    said = [
        text.format(value(scenario[0]))
        for text, value in parts
        if len({str(value(one)) for one in scenario}) == 1 and value(scenario[0]) not in (None, "no")
    ]
    return ", ".join([*dict.fromkeys(one["name"] for one in scenario), *said])
