"""Draw a sequence that goes down: a lifeline for each client, for the lock and for the counter; a row for each event or step.

Rows go down so that each has room for its words. Distances are not in proportion to time. The parts of a row have an id of that
row, so that a page can show the rows one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from lab.report.lanes.pen import DISC, EDGE, WIDTH, Pen, View, headed, legend, picture, written
from lab.text import letters_of

NUMBER, GAP = 26, 8  # px: the widths left of the lanes, and right of them
LINE, WORDS, EVENT = 18, 16, 30  # px: heights
BOX, TALL = 25, 11  # px: half of the width and of the height of the box with the counter's value
LETTER = 7.4  # px, the width of a bold letter of 12 px
LAMP = 2 * DISC + 1  # px, from a lamp to the next one


class Lane(NamedTuple):
    """A lifeline. heads: the lines of text above it. bar: the width of its spans, in px. end: the index of its last moment."""

    heads: tuple[str, ...]
    width: int
    bar: int = 22
    end: int = -1


class Mark(NamedTuple):
    """The mark of an event on a lifeline, or, without a lane, across all of them."""

    lane: int | None = None
    # the text in the event's circle: the letter of a client, or a sign for the event; without it there is no circle
    sign: str = ""
    # the lifelines to which an arrow goes; or, with is_back, from which it comes
    to: tuple[int, ...] = ()
    is_back: bool = False
    words: str = ""
    # the counter's value, in a box on the last of these lifelines
    value: str = ""
    is_bad: bool = False
    # on the last of the lifelines, a lamp for each server: the letter of the request that has its vote, a sign, or nothing
    lamps: tuple[str, ...] = ()


class Row(NamedTuple):
    """An event, or the events of a step."""

    # its lines of text, each after its CSS class
    words: tuple[tuple[str, str], ...]
    # the marks of each event, from the top down
    events: tuple[tuple[Mark, ...], ...]
    is_bad: bool = False
    # a text at the right end of its first line
    place: str = ""
    # the number before the row; 0 for the row's index
    number: int = 0


class Span(NamedTuple):
    """A bar on a lane from one moment to another: 0 is before the first event, 1 is the first event."""

    lane: int
    since: int
    until: int
    look: str
    words: tuple[str, ...] = ()


class Lifelines(NamedTuple):
    """A complete picture. legend: the style of each kind of span, with its meaning. about: a line below the title."""

    title: str
    lanes: tuple[Lane, ...]
    rows: tuple[Row, ...]
    spans: tuple[Span, ...]
    legend: tuple[tuple[str, str], ...]
    about: str = ""
    # for a screen reader
    description: str = ""

    def draw(self) -> str:
        """Return the picture."""
        parts, head = headed(self.title, self.about)
        first = head + LINE * max(len(lane.heads) for lane in self.lanes) + GAP
        heights = [max(EVENT * len(row.events) + 4, WORDS * len(row.words) + 12) for row in self.rows]
        tops = [first + sum(heights[:number]) for number in range(len(heights) + 1)]
        events = [
            [top + 15 + EVENT * place for place in range(len(row.events))] for top, row in zip(tops, self.rows, strict=False)
        ]
        moments = [first, *(moment for row in events for moment in row), tops[-1]]
        xs = [words_x(self.lanes[:number]) - GAP + lane.width // 2 for number, lane in enumerate(self.lanes)]
        parts += [f'<path class="grid" d="M0 {top}H{WIDTH}"/>' for top in tops]
        for number, (row, (top, end)) in enumerate(zip(self.rows, pairwise(tops), strict=True), 1):
            if row.is_bad:
                parts.append(f'<g id="step-{number}-1"><rect class="red" y="{top}" width="{WIDTH}" height="{end - top}"/></g>')
        for x, lane in zip(xs, self.lanes, strict=True):
            lines = [(line, head + 14 + LINE * place, "soft small" if place else "bold") for place, line in enumerate(lane.heads)]
            parts += [written(line, x, y, look, "center") for line, y, look in lines]
            parts.append(f'<path class="life" d="M{x} {first}V{moments[lane.end]}"/>')
        pens = [Pen(View(*ends)) for ends in pairwise(tops)]
        for number, pen in enumerate(pens, 1):
            for span in self.spans:
                wide = self.lanes[span.lane].bar
                pen.bars([(xs[span.lane], moments[span.since], moments[span.until])], -wide // 2, wide, span.look)
            parts.append(f'<g id="step-{number}-2">{pen.shapes()}</g>')
            pen.paths.clear()
        for span in self.spans:
            room = moments[span.until] - moments[span.since]
            words = span.words if room >= WORDS * len(span.words) + 4 else (" ".join(span.words),)
            ys = (moments[span.since] + WORDS * place for place in range(1, len(words) + 1))
            parts += [written(line, xs[span.lane], y, "small", "center") for line, y in zip(words, ys, strict=True)]
        for number, (row, of_row, pen, top) in enumerate(zip(self.rows, events, pens, tops, strict=False), 1):
            for y, marks in zip(of_row, row.events, strict=True):
                for mark in marks:
                    _mark(pen, mark, xs, y)
            lines = [(line, top + 20 + WORDS * place, look) for place, (look, line) in enumerate(row.words)]
            texts = [written(line, words_x(self.lanes), y, look) for line, y, look in lines]
            place = written(row.place, WIDTH - EDGE, top + 20, "code soft", "right")
            name = written(str(row.number or number), EDGE + 18, top + 20, "soft", "right")
            parts.append(f'<g id="step-{number}-3">{name}{pen.shapes()}{"".join([*pen.words, *texts, place])}</g>')
        looks = [(meaning, look and f'<path class="block {look}" d="M0 0h24v14h-24z"/>') for look, meaning in self.legend]
        explained, height = legend(looks, tops[-1] + 12)
        cut = f'class="lane-ink lifelines" data-lanes="0 {head} {words_x(self.lanes) - GAP} {height - head:g}"'
        return picture(self.title, [*parts, *explained], height, self.description, cut)


def words_x(lanes: Sequence[Lane]) -> int:
    """Return the distance of the rows' words from the left, in pixels."""
    return EDGE + NUMBER + sum(lane.width for lane in lanes) + GAP


def words_room(lanes: Sequence[Lane]) -> int:
    """Return the largest width of the rows' words, in pixels."""
    return WIDTH - EDGE - words_x(lanes)


def _mark(pen: Pen, mark: Mark, xs: Sequence[int], y: float) -> None:
    """Draw a mark into its row, with its words above the arrow or beside the sign."""
    if mark.lane is None:
        pen.ticks([(EDGE + NUMBER, y)], 0, xs[-1] + BOX - EDGE - NUMBER, "clock")
        return
    x, kind = xs[mark.lane], "step wrong" if mark.is_bad else "step"
    half = BOX if mark.value else LAMP * len(mark.lamps) // 2
    for end in (xs[lane] for lane in mark.to):
        side = 1 if end > x else -1
        tail, head = (y, x + DISC * side), (y, end - (half or 2) * side)
        pen.arrow(*((head, tail) if mark.is_back else (tail, head)), kind)
    end = xs[mark.to[-1]] if mark.to else x
    if mark.value:
        box = f'x="{end - BOX}" y="{y - TALL:g}" width="{2 * BOX}" height="{2 * TALL}" rx="4"'
        pen.words += [
            f'<rect class="sign hollow {kind}" {box}/>',
            written(mark.value, end, y + 5, "bad" if mark.is_bad else "bold", "center"),
        ]
    for number, letter in enumerate(mark.lamps):
        look = "step wrong" if letter == "×" else "step" if letter else "step hollow"
        pen.disc(y, end + LAMP * (number - (len(mark.lamps) - 1) / 2), letter, look)
    if mark.sign:
        pen.disc(y, x, mark.sign, kind)
    # the words are above an arrow, and also above the box with the value if they are too long to end before it
    is_long = bool(mark.to and half) and 14 + LETTER * letters_of(mark.words) > abs(end - x) - half
    is_left = end < x or (bool(mark.value) and not mark.to)
    away = (14 if mark.sign else half + 6) * (-1 if is_left else 1)
    below = 4 if not mark.to else -14 if is_long else -5
    look = "small bad" if mark.is_bad else "small"
    pen.words.append(written(mark.words, x + away, y + below, look, "right" if is_left else "left"))
