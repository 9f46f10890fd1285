"""A window of a run, drawn as a still picture: one SVG of its own, or a part of a page. And the strip of the whole run."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from html import escape

from lab.language import Language
from lab.report.lanes.grants import Grants, cast, draw_messages, named
from lab.report.lanes.pen import STYLE, Pen, definitions, grid, n
from lab.report.lanes.rows import LEFT, RIGHT, ROOM, WIDTH, Rows, axis_of
from lab.report.lanes.run_parts import (
    draw_asked,
    draw_counter,
    draw_faults,
    draw_loss,
    draw_stops,
    draw_store,
    draw_votes,
    draw_waiting,
)
from lab.story import say_run
from lab.story.say import ENGLISH
from lab.story.timeline import NEVER, Timeline
from lab.text import thousands, wrapped

TITLE_LETTERS = 84  # in a line
A_UNIT = re.compile(r"(?<=\d) (?=ms\b|s\b)")  # the space before it, at which no line ends
BELOW = 40  # px, for the numbers and the name of the axis
NAMED = 'aria-labelledby="t"'
BINS = 240  # of the overview
LEAST_PANE = 1.2  # bins: a shorter window would not be seen in it


def compose(picture: Timeline, language: Language = ENGLISH) -> Pen:
    """Draw all lanes and return the pen, which knows all marks and labels."""
    axis = axis_of(picture)
    rows, players = Rows(picture, axis), cast(picture)
    pen = Pen(axis, rows, language)
    grants = Grants(pen, picture, rows, players)
    draw_stops(pen, picture, rows)
    draw_faults(pen, picture, rows)
    draw_store(pen, picture, rows)
    draw_votes(pen, picture, rows, players)
    draw_asked(pen, grants, players)
    draw_messages(pen, picture, rows, grants, players)
    grants.draw()
    draw_counter(pen, picture, rows, grants)
    draw_waiting(pen, picture, rows, named(picture))
    draw_loss(pen, picture, grants)
    pen.place_labels()
    return pen


def still(picture: Timeline, pen: Pen, conditions: str) -> str:
    """Return a picture with its title, the conditions of the run and a legend: one SVG without fonts and scripts.

    pen: what ``compose`` returned for the picture.
    """
    language = pen.language
    words = say_run.title(picture, language)
    number = len(pen.rows.visible)
    in_view = pen.say("in_view", shown=thousands(number), all=thousands(picture.grants)) if number < picture.grants else ""
    title = enumerate(map(escape, _wrapped(words, language)))
    lines = [f'<text x="{RIGHT}" y="{24 + 21 * line}" class="title">{part}</text>' for line, part in title]
    head = 21 * len(lines) + 34
    legend, height = pen.legend(head + _height(pen) + BELOW + 14)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + 4:g}" class="lane-ink" role="img" {NAMED}>',
            f'<title id="t">{escape(words)}</title>',
            f"<style>{STYLE}</style>{definitions()}",
            f'<rect class="paper" width="{WIDTH}" height="{height + 4:g}"/>',
            *lines,
            f'<text x="{RIGHT}" y="{head - 12}" class="soft">{escape(conditions + in_view)}</text>',
            f'<g transform="translate(0 {head})">',
            _lanes(pen),
            f'<text x="{LEFT}" y="{n(_height(pen) + 34)}" class="soft">{escape(pen.axis_name)}</text></g>',
            legend,
            "</svg>\n",
        ]
    )


def for_page(pen: Pen, words: str) -> str:
    """Return a picture as a part of a page, which has its title, its legend, ``STYLE`` and the signs. words: its title.

    The names of the lanes are there twice: on a narrow screen they stay in sight while the picture is scrolled.
    """
    height = n(_height(pen) + BELOW - 18)
    names = f'<svg class="names lane-ink" viewBox="0 0 {LEFT} {height}" aria-hidden="true">{_names(pen)}</svg>'
    size = f'viewBox="0 0 {WIDTH} {height}"'
    return f'{names}<svg class="lanes lane-ink" {size} role="img" aria-label="{escape(words)}">\n{_lanes(pen)}\n</svg>'


def share(pen: Pen, at: float) -> float:
    """Return where a moment is in a picture: 0 at its left edge, 1 at the right."""
    return round((LEFT + pen.x(at)) / WIDTH, 3)


def _names(pen: Pen) -> str:
    return "".join(
        f'<text x="{RIGHT}" y="{n(pen.y(lane.middle) + 4)}" class="lane">{escape(pen.lane(lane.name))}</text>'
        for lane in pen.rows.lanes
    )


def _lanes(pen: Pen) -> str:
    """Return the lanes with their names and the axis below."""
    rows, axis = pen.rows, pen.axis
    height = _height(pen)
    edges = "".join(f"M{RIGHT} {n(pen.y(lane.bottom))}H{WIDTH - RIGHT}" for lane in rows.lanes)
    bend = f'<path class="bend" d="M{n(pen.x(axis.bend))} 0V{height:g}"/>' if axis.bend != NEVER else ""
    words = "\n".join(pen.words)
    return f"""{_names(pen)}<path class="edge rows" d="{edges}"/>
{grid(axis, height)}
<svg class="plot{" crowded" if pen.is_crowded else ""}" x="{LEFT}" width="{ROOM}" height="{height:g}">
<g class="time">{bend}{pen.shapes()}</g>
<g class="words">{words}</g>
</svg>"""


def _height(pen: Pen) -> float:
    return pen.y(pen.rows.number)


def overview(picture: Timeline, windows: Sequence[Timeline], words: str) -> str:
    """Return how many writes the run has at each time, how many of them overwrote increments, its faults, and its windows.

    words: what it shows.
    """
    total, over = [0] * BINS, [0] * BINS
    bad = {loss.culprit for loss in picture.losses}
    each = BINS / max(1, picture.end)
    for place, held in enumerate(picture.held):
        if held.wrote_in != NEVER:
            bar = min(BINS - 1, int(held.wrote_in * each))
            total[bar] += 1
            over[bar] += place in bad
    most = max(1, *total)

    def path(kind: str, numbers: list[int]) -> str:
        bars = ((place, 3 + 23 * number / most) for place, number in enumerate(numbers) if number)
        return f'<path class="block {kind}" d="{"".join(f"M{x} 30v{-tall:.1f}h.8v{tall:.1f}z" for x, tall in bars)}"/>'

    faults = "".join(f"M{fault.at * each:.2f} 0v30" for fault in picture.faults)
    panes = [
        f'<rect class="pane" x="{since * each:.2f}" y="1" width="{max(LEAST_PANE, (until - since) * each):.2f}" height="28"/>'
        for since, until in (window.opens for window in windows)
    ]
    return (
        f'<svg class="overview lane-ink" viewBox="0 0 {BINS} 30" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(words)}">{definitions()}'
        f'{path("belief", total)}{path("both", over)}<path class="line begins" d="{faults}"/>{"".join(panes)}</svg>'
    )


def _wrapped(words: str, language: Language) -> list[str]:
    """Return the lines of a title, about equally long, so that no word stands alone."""
    if language is not ENGLISH:
        return wrapped(words, TITLE_LETTERS)
    words = A_UNIT.sub("\u00a0", words)
    lines = len(textwrap.wrap(words, TITLE_LETTERS))
    widths = range(math.ceil(len(words) / lines), TITLE_LETTERS + 1)
    return next(tried for width in widths if len(tried := textwrap.wrap(words, width)) <= lines)
