"""The timeline of one run as a still picture: the opening view of its page, for print and for readers without JavaScript."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.report.chart import conditions, title
from lab.report.run_data import Result
from lab.report.still.axis import axis_of
from lab.report.still.cast import cast, named_in
from lab.report.still.grants import Grants
from lab.report.still.lock_servers import draw_store, draw_votes
from lab.report.still.messages import draw_messages
from lab.report.still.pen import Pen
from lab.report.still.rows import Rows
from lab.report.still.run_parts import draw_asked, draw_counter, draw_faults, draw_loss, draw_stops, draw_waiting
from lab.story.say_run import title as finding
from lab.story.timeline import Timeline, load
from lab.text import thousands

FOR = "one"
MOST_ROWS = 14  # that have the full height
TITLE_WIDTH = 78  # letters in a line
A_UNIT = re.compile(r"(?<=\d) (?=ms\b|s\b)")  # the space before it, at which no line ends
SEEN = 0.02  # of the width; a shorter wait is not drawn


def fits(results: Sequence[Result]) -> bool:
    """Return whether a request did its work, and whether the folder has a timeline."""
    return all((picture := load(result.folder / "timeline.json")) is not None and picture.held for result in results)


def height(results: Sequence[Result]) -> float:
    """Return the height in inches: each row of each lane has the same."""
    (result,) = results
    picture = load(result.folder / "timeline.json")
    if picture is None:
        return 4.6
    marks, rows = _size(picture)
    return 1.75 + 0.215 * marks + 0.42 * min(rows, MOST_ROWS)


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    picture = load(result.folder / "timeline.json")
    if picture is None:
        return
    words = finding(picture)
    compose(axes, picture, words)
    words = A_UNIT.sub("\u00a0", words)
    title(axes, words, conditions(results) + _in_view(picture), _even_width(words))


def compose(axes: Axes, picture: Timeline, words: str) -> Pen:
    """Draw the picture without its title, and return the pen, which knows all marks and labels. words: the title."""
    axis = axis_of(picture)
    rows, players = Rows(picture, axis), cast(picture, words)
    pen = Pen(axes, axis, rows)
    axis.set(axes)
    axes.set_ylim(rows.number, 0)
    axes.set_yticks([lane.middle for lane in rows.lanes], [lane.name for lane in rows.lanes])
    for lane in rows.lanes[:-1]:
        axes.axhline(lane.bottom, color="#dddddd", linewidth=0.8, zorder=0.4)
    grants = Grants(pen, picture, rows, players)
    draw_stops(pen, picture, rows)
    draw_faults(pen, picture, rows)
    draw_store(pen, picture, rows)
    draw_votes(pen, picture, rows, players)
    if "waited" in words:
        draw_asked(pen, grants, players, round(SEEN * (axis.until - axis.since)))
    draw_messages(pen, picture, rows, grants, players)
    grants.draw()
    draw_counter(pen, picture, rows, grants)
    draw_waiting(pen, picture, rows, named_in(words))
    draw_loss(pen, picture, grants)
    axes.grid(visible=False, axis="y")
    pen.finish()
    return pen


def _size(picture: Timeline) -> tuple[int, float]:
    """Return how many lines the legend takes, and how many rows the picture has."""
    pen = compose(Figure().add_subplot(), picture, finding(picture))
    return -(-len(pen.marks) // pen.columns), Rows(picture, axis_of(picture)).number


def _in_view(picture: Timeline) -> str:
    """Return how much of the run is in view; empty for all of it."""
    axis = axis_of(picture)
    number = len(Rows(picture, axis).visible)
    return f"; in view: {thousands(number)} of {thousands(picture.grants)} grants" if number < picture.grants else ""


def _even_width(words: str) -> int:
    """Return in how many letters a title's lines are about equally long, so that no word stands alone."""
    lines = len(textwrap.wrap(words, TITLE_WIDTH))
    return next(
        width for width in range(math.ceil(len(words) / lines), TITLE_WIDTH + 1) if len(textwrap.wrap(words, width)) <= lines
    )
