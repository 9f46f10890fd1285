"""A run's drawing: as a still picture of the view that it opens on, or for a page that lets a reader move the view."""

from __future__ import annotations

import math
import re
import textwrap
from dataclasses import dataclass
from html import escape

import msgspec

from lab.language import Language
from lab.report.lanes.grants import Grants, cast, draw_messages, named
from lab.report.lanes.pen import STYLE, Pen, Tile, definitions, grid, n
from lab.report.lanes.rows import LEFT, RIGHT, ROOM, WIDTH, Rows, axis_of
from lab.report.lanes.run_parts import (
    draw_asked,
    draw_counter,
    draw_faults,
    draw_losses,
    draw_missing,
    draw_stops,
    draw_store,
    draw_votes,
    draw_waiting,
)
from lab.story import say, say_run
from lab.story.say import ENGLISH
from lab.story.timeline import NEVER, DrawnGrant, Timeline
from lab.text import thousands, wrapped

TITLE_LETTERS = 84  # in a line
A_UNIT = re.compile(r"(?<=\d) (?=ms\b|s\b)")  # the space before it, at which no line ends
BELOW = 40  # px, for the numbers and the name of the axis
NAMED = 'aria-labelledby="t"'
BINS = 240  # of the overview


@dataclass(frozen=True)
class PageDrawing:
    """The drawing of a run for a page. All are pieces of SVG, and of JSON what the script of the page needs."""

    finding: str
    lanes: str
    overview: str
    # what each sign means, with the sign
    legend: list[tuple[str, str]]
    # what the axis shows
    axis: str
    facts: str


def compose(picture: Timeline, whole: bool = False, language: Language = ENGLISH) -> Pen:
    """Draw all lanes and return the pen, which knows all marks and labels. whole: not only what is in view."""
    axis = axis_of(picture)
    rows, players = Rows(picture, axis, whole), cast(picture)
    pen = Pen(axis, rows, language)
    grants = Grants(pen, picture, rows, players)
    draw_missing(pen, picture, rows)
    draw_stops(pen, picture, rows)
    draw_faults(pen, picture, rows)
    draw_store(pen, picture, rows)
    draw_votes(pen, picture, rows, players)
    draw_asked(pen, grants, players)
    draw_messages(pen, picture, rows, grants, players)
    grants.draw()
    draw_counter(pen, picture, rows, grants)
    draw_waiting(pen, picture, rows, named(picture))
    draw_losses(pen, picture, grants)
    pen.place_labels()
    return pen


def still(picture: Timeline, conditions: str, language: Language = ENGLISH) -> str:
    """Return the still picture, with its title, the conditions of the run and a legend: one SVG without fonts and scripts."""
    words = say_run.title(picture, language)
    pen = compose(picture, language=language)
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
            _lanes(pen, pen.tiles),
            f'<text x="{LEFT}" y="{n(_height(pen) + 34)}" class="soft">{escape(pen.axis_name)}</text></g>',
            legend,
            "</svg>\n",
        ]
    )


def for_page(picture: Timeline, language: Language = ENGLISH) -> PageDrawing:
    """Return the drawing of the whole run: a page shows the same view first as a still picture, and moves it."""
    words = say_run.title(picture, language)
    pen = compose(picture, whole=True, language=language)
    later = [[] if _is_in_view(tile) else [tile.shapes, "\n".join(tile.words)] for tile in pen.tiles]
    height = n(_height(pen) + BELOW - 18)
    style = f"<style>{STYLE}</style>{definitions()}"
    lanes = (
        f'<svg class="lanes lane-ink" viewBox="0 0 {WIDTH} {height}" tabindex="0" role="application" aria-label="{escape(words)}"'
    )
    axis = pen.axis
    facts = {
        "axis": [axis.since, axis.until, axis.bend, axis.place(axis.bend) if axis.bend != NEVER else 1],
        "end": picture.end,
        "room": ROOM,
        "left": LEFT,
        "right": RIGHT,
        "losses": [[*map(pen.x, _span_of(picture, loss.culprit, loss.victim)), loss.culprit] for loss in picture.losses],
        "focus": picture.focus,
        "tiles": later,
        "in_view": say.words(language)["controls"]["in_view"],
    }
    return PageDrawing(
        words,
        f'{lanes} aria-describedby="timeline-help">\n{style}\n{_lanes(pen, pen.tiles)}\n</svg>',
        _overview(picture, say.text("controls", "whole", language)),
        pen.explained,
        pen.axis_name,
        # the script that has the data must not end with a text of a run, nor go on behind its own end
        msgspec.json.encode(facts).decode().replace("</", "<\\/").replace("<!", "\\u003c!"),
    )


def _lanes(pen: Pen, tiles: list[Tile]) -> str:
    """Return the lanes with their names and the axis below."""
    rows, axis = pen.rows, pen.axis
    height = _height(pen)
    names = [
        f'<text x="{RIGHT}" y="{n(pen.y(lane.middle) + 4)}" class="lane">{escape(pen.lane(lane.name))}</text>'
        for lane in rows.lanes
    ]
    edges = "".join(f"M{RIGHT} {n(pen.y(lane.bottom))}H{WIDTH - RIGHT}" for lane in rows.lanes)
    bend = f'<path class="bend" d="M{n(pen.x(axis.bend))} 0V{height:g}"/>' if axis.bend != NEVER else ""
    shapes = "\n".join(_group(pen, tile, tile.shapes) for tile in tiles)
    words = "\n".join(_group(pen, tile, "\n".join(tile.words)) for tile in tiles)
    return f"""{"".join(names)}<path class="edge rows" d="{edges}"/>
{grid(axis, height)}
<svg class="{" ".join(["plot", *pen.crowd])}" x="{LEFT}" width="{ROOM}" height="{height:g}">
<g class="time">{bend}{shapes}</g>
<g class="words">{words}</g>
</svg>"""


def _group(pen: Pen, tile: Tile, content: str) -> str:
    if not pen.whole:
        return content
    return f'<g data-span="{n(tile.since)} {n(tile.until)}">{content if _is_in_view(tile) else ""}</g>'


def _is_in_view(tile: Tile) -> bool:
    return tile.since <= ROOM and tile.until >= 0


def _height(pen: Pen) -> float:
    return pen.y(pen.rows.number)


def _span_of(picture: Timeline, *places: int) -> tuple[int, int]:
    """Return from when to when grants last, with margins, as the view of a loss."""
    both: list[DrawnGrant] = [picture.held[place] for place in places if place != NEVER]
    since, until = min(held.got for held in both), max(max(held.until, held.wrote_at) for held in both)
    margin = min(2 * picture.ttl or until - since, 2 * (until - since))
    return max(0, since - margin), min(picture.end, until + margin)


def _overview(picture: Timeline, name: str) -> str:
    """Return how many writes the run has at each time, how many of them overwrote increments, and its faults."""
    total, over = [0] * BINS, [0] * BINS
    bad = {loss.culprit for loss in picture.losses}
    for place, held in enumerate(picture.held):
        if held.wrote_in != NEVER:
            bar = min(BINS - 1, int(held.wrote_in / max(1, picture.end) * BINS))
            total[bar] += 1
            over[bar] += place in bad
    most = max(1, *total)

    def path(kind: str, numbers: list[int]) -> str:
        bars = ((place, 3 + 23 * number / most) for place, number in enumerate(numbers) if number)
        return f'<path class="block {kind}" d="{"".join(f"M{x} 30v{-tall:.1f}h.8v{tall:.1f}z" for x, tall in bars)}"/>'

    faults = "".join(f"M{fault.at / max(1, picture.end) * BINS:.2f} 0v30" for fault in picture.faults)
    return (
        f'<svg class="overview lane-ink" viewBox="0 0 {BINS} 30" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(name)}">'
        f'{path("belief", total)}{path("both", over)}<path class="line begins" d="{faults}"/>'
        f'<rect class="window" y="1" height="28" width="{BINS}"/></svg>'
    )


def _wrapped(words: str, language: Language) -> list[str]:
    """Return the lines of a title, about equally long, so that no word stands alone."""
    if language is not ENGLISH:
        return wrapped(words, TITLE_LETTERS)
    words = A_UNIT.sub("\u00a0", words)
    lines = len(textwrap.wrap(words, TITLE_LETTERS))
    widths = range(math.ceil(len(words) / lines), TITLE_LETTERS + 1)
    return next(tried for width in widths if len(tried := textwrap.wrap(words, width)) <= lines)
