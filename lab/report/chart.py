"""Define the parts that all charts share: marks, colours, size, title and conditions.

The title of a chart is one plain sentence that states the finding. It is short and has the numbers, as
``lab.text.thousands`` writes them.
One colour has one meaning in all charts, pages and pictures; lines have other colours. The colours are safe for the colour-blind
(Okabe and Ito's palette). A colour only supports a word: each meaning also has a sign.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from enum import StrEnum
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.evidence.run_folder import replace
from lab.language import Language
from lab.report.run_data import LOAD, Result, load_in_words
from lab.story import say
from lab.story.say import ENGLISH
from lab.text import wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = Path(__file__).with_name("lab.mplstyle")
GREEN, RED, GREY, BLUE = "#009E73", "#D55E00", "#999999", "#0072B2"
COLOURS = {"counted": GREEN, "lost": RED, "refused": "#5B3F9B", "unknown": "#565656"}  # of increments, as in colours.css
GOOD, BAD, SOFT = "#00654a", "#a34700", "#555555"  # colours of words
LINES = (BLUE, "#8B6914", "#000000", "#56B4E9", "#6A3D9A", "#B15928", "#1B7837", GREY)  # colours without a meaning
WIDTH_IN, LINE_IN, HEAD_WIDTH = 9.6, 0.25, 84  # inches: a picture's width, a line's height in its head; then the letters in it
CONDITIONS = (*LOAD, "retry_ms", "work_ms")
LOST = "lost.svg"  # the main chart of a ladder
PRICE = "price.svg"  # the chart of speed and promises


def write(draw: Callable[[], Figure], path: Path) -> Path:
    """Draw a figure in the lab's style into an SVG file. Return the file's path.

    The file is written completely or not at all. Its title is the figure's label, and it has no date.
    """
    from matplotlib import style  # here, because it takes half a second to load, and many commands draw nothing

    with style.context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser draws the letters of an SVG, in fonts of its own
        figure = draw()
        metadata = {"Date": None} | ({"Title": figure.get_label()} if figure.get_label() else {})
        content = BytesIO()
        figure.savefig(content, format="svg", metadata=metadata)
    replace(path, content.getvalue())
    return path


def headed(finding: str, conditions: str, height_in: float) -> Figure:
    """Return an empty figure of this height for several axes, with the finding above as the title and the conditions below it."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    title, below = wrapped(finding, HEAD_WIDTH), wrapped(conditions, HEAD_WIDTH + 38)
    head_in = LINE_IN * (len(title) + len(below)) + 0.15
    whole_in = height_in + head_in
    figure = Figure(figsize=(WIDTH_IN, whole_in), layout=ConstrainedLayoutEngine(rect=(0.012, 0, 0.976, 1 - head_in / whole_in)))
    figure.set_label(finding)
    places: dict[str, Any] = {"x": 0.012, "ha": "left", "va": "top"}
    figure.text(**places, y=1 - 0.08 / whole_in, s="\n".join(title), fontsize=13, fontweight="bold")
    down_in = 0.12 + LINE_IN * len(title)
    figure.text(**places, y=1 - down_in / whole_in, s="\n".join(below), fontsize=10, color=SOFT)
    return figure


def conditions(results: Sequence[Result], language: Language = ENGLISH, with_names: bool = True) -> str:
    """Return the common conditions of the runs in words. with_names: whether the names of their scenarios come first."""
    first, *rest = [result.record.scenario for result in results]
    common = {name: first.get(name) for name in CONDITIONS if all(scenario.get(name) == first.get(name) for scenario in rest)}
    names = dict.fromkeys(scenario["name"] for scenario in (first, *rest) if with_names)
    return say.words(language)["mark"]["comma"].join(filter(None, [*names, load_in_words(common, CONDITIONS, language)]))


class Mark(StrEnum):
    """The result of a stage under a scenario, as one sign."""

    KEPT = "\u2713"
    # the tested promise held, and increments were lost by another cause
    OTHERWISE = "\u2713!"
    # increments were acknowledged and lost, or counted twice
    LOST = "\u2212"
    # no request gets the lock, or requests are refused
    STUCK = "\u221e"
    # a request was overtaken, or the lock was free while a request waited
    LATE = "\u2026"
    # half of the work is done
    HALF = "\u00bd"
    # the run proves nothing
    NOTHING = "?"
    # the scenario fits the stage, and was not run
    UNTRIED = ""
    # the scenario makes no sense for the stage
    IMPOSSIBLE = "\u00b7"


HARMS = (Mark.LOST, Mark.STUCK, Mark.LATE, Mark.HALF)
HELD = (Mark.KEPT, Mark.OTHERWISE)
NAMES = {mark: mark.name.lower() for mark in Mark}  # the marks in the classes and ids of pages and pictures
