"""The one drawing of lanes, as SVG: a lifeline for each client, for the lock and for the counter; a row for each event or step.

Rows go down, for then each has room for its words. The distances are not those of time. The picture is one file without fonts,
scripts or links, light and dark. What belongs to a row has an id of that row, so that a page can show the rows one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from lab.text import letters_of, wrapped

WIDTH, EDGE = 850, 10
NUMBER, GAP = 26, 8  # the widths left of the lanes, and right of them
TITLE, LINE, WORDS, EVENT, LEGEND = 22, 18, 16, 30, 44  # heights
TITLE_LETTERS = 84
RADIUS, BOX = 10, 25  # of an event's circle; half the width of the box with what the counter reads
LETTER = 7.4  # the width of a bold letter of 12 px

STYLE = """\
.lifelines{--page:#fff;--text:#1c1c1c;--soft:#565656;--line:#b9b9b4;--grid:#ececea;--bad:#a34700;--red:#fdeee6;
--work:#a9d3ee;--late:#f2bd4d;--lock:#e4e4df;--other:#c4c4bb;--node:#0072b2;--on:#fff;--hatch:#666}
@media (prefers-color-scheme:dark){
.lifelines{--page:#161616;--text:#ececec;--soft:#b4b4b4;--line:#6a6a6a;--grid:#2b2b2b;--bad:#ff9d5c;--red:#3a1d12;
--work:#1f5f88;--late:#8a6512;--lock:#3a3a38;--other:#5a5a56;--node:#86caf7;--on:#161616;--hatch:#a0a0a0}}
.lifelines text{fill:var(--text);font:13px system-ui,"DejaVu Sans",Arial,sans-serif}
.lifelines .code{font:12px "DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre}
.lifelines .title{font-size:16px;font-weight:bold}.lifelines .small{font-size:12px}.lifelines .bold{font-weight:bold}
.lifelines .soft{fill:var(--soft)}.lifelines .bad{fill:var(--bad);font-weight:bold}.lifelines .on{fill:var(--on);font-weight:bold}
.lifelines .page{fill:var(--page)}.lifelines .red{fill:var(--red)}.lifelines .grid{stroke:var(--grid)}
.lifelines .lane{stroke:var(--line);stroke-width:2}.lifelines .entitled{fill:var(--work)}.lifelines .late{fill:var(--late)}
.lifelines .lock,.lifelines .votes0{fill:var(--lock)}.lifelines .votes1{fill:var(--other)}.lifelines .paused{fill:url(#hatch)}
.lifelines .hatch{stroke:var(--hatch);stroke-width:2}.lifelines .clock{stroke:var(--soft);stroke-dasharray:4 3}
.lifelines .node{fill:var(--node);stroke:var(--node)}.lifelines .wrong{fill:var(--bad);stroke:var(--bad)}
.lifelines .way{stroke-width:2}.lifelines .cell{fill:var(--page);stroke-width:2}
"""
HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path d="M0 0V6" class="hatch"/></pattern></defs>'
)


class Lane(NamedTuple):
    """A lifeline. heads: the lines above it. end: the moment at which it ends. bar: how wide its spans are."""

    heads: tuple[str, ...]
    width: int
    bar: int = 22
    end: int = -1


class Mark(NamedTuple):
    """What is at a lifeline at an event; without a lane, at all of them."""

    lane: int | None = None
    # in the event's circle: the letter of a client, or the sign of what was done to it; there is no circle without one
    sign: str = ""
    # the lifelines to which an arrow goes, or from which it comes back
    to: tuple[int, ...] = ()
    is_back: bool = False
    words: str = ""
    # of the counter, in a box on the last of the lifelines
    value: str = ""
    is_bad: bool = False


class Row(NamedTuple):
    """An event, or the events of a step."""

    # its lines, each with its class
    words: tuple[tuple[str, str], ...]
    # the marks of each event, from the top down
    events: tuple[tuple[Mark, ...], ...]
    is_bad: bool = False
    # at the right end of its first line
    place: str = ""


class Span(NamedTuple):
    """What holds at a lane from a moment until another: 0 is before the first event, 1 is the first event."""

    lane: int
    since: int
    until: int
    look: str
    words: tuple[str, ...] = ()


class Lanes(NamedTuple):
    """A whole picture. about: a line below the title. legend: looks of spans with their meaning."""

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
        return "\n".join(_drawn(self)) + "\n"


def words_x(lanes: Sequence[Lane]) -> int:
    """Return where the words of the rows begin, in pixels from the left."""
    return EDGE + NUMBER + sum(lane.width for lane in lanes) + GAP


def _drawn(picture: Lanes) -> Iterator[str]:
    title = wrapped(picture.title, TITLE_LETTERS)
    head = EDGE + TITLE * len(title) + LINE * bool(picture.about)
    first = head + LINE * max(len(lane.heads) for lane in picture.lanes) + GAP
    heights = [max(EVENT * len(row.events) + 4, WORDS * len(row.words) + 12) for row in picture.rows]
    tops = [first + sum(heights[:number]) for number in range(len(heights) + 1)]
    moments = [
        first,
        *(top + 15 + EVENT * i for top, row in zip(tops, picture.rows, strict=False) for i in range(len(row.events))),
    ]
    moments.append(tops[-1])
    xs = [words_x(picture.lanes[:number]) - GAP + lane.width // 2 for number, lane in enumerate(picture.lanes)]
    text_x = words_x(picture.lanes)
    height = tops[-1] + LEGEND
    role = ' role="img" aria-labelledby="t d"' if picture.description else ""
    cut = f'data-lanes="0 {head} {text_x - GAP} {height - head}"'
    yield f'<svg xmlns="http://www.w3.org/2000/svg" class="lifelines" viewBox="0 0 {WIDTH} {height}" {cut}{role}>'
    yield f'<title id="t">{escape(picture.title)}</title>'
    yield f'<desc id="d">{escape(picture.description)}</desc>\n<style>\n{STYLE}</style>\n{HATCH}'
    yield f'<rect class="page" width="{WIDTH}" height="{height}"/>'
    for number, line in enumerate(title):
        yield _label(EDGE, EDGE + 14 + TITLE * number, line, "title")
    yield _label(EDGE, head - 2, picture.about, "soft")
    for top in tops:
        yield f'<path class="grid" d="M0 {top}H{WIDTH}"/>'
    for number, (row, (top, end)) in enumerate(zip(picture.rows, pairwise(tops), strict=True), 1):
        if row.is_bad:
            yield f'<g id="step-{number}-1"><rect class="red" y="{top}" width="{WIDTH}" height="{end - top}"/></g>'
    for x, lane in zip(xs, picture.lanes, strict=True):
        for number, line in enumerate(lane.heads):
            yield _label(x, head + LINE * number + 14, line, "soft small" if number else "bold", "middle")
        yield f'<path class="lane" d="M{x} {first}V{moments[lane.end]}"/>'
    for number, ends in enumerate(pairwise(tops), 1):
        bars = "".join(_bar(span, picture.lanes[span.lane], xs, moments, ends) for span in picture.spans)
        yield f'<g id="step-{number}-2">{bars}</g>'
    for span in picture.spans:
        room = moments[span.until] - moments[span.since]
        lines = span.words if room >= WORDS * len(span.words) + 4 else (" ".join(span.words),)
        yield from (
            _label(xs[span.lane], moments[span.since] + WORDS * i, line, "small", "middle") for i, line in enumerate(lines, 1)
        )
    rest = iter(moments[1:])
    for number, (row, top) in enumerate(zip(picture.rows, tops, strict=False), 1):
        marks = "".join(part for event, y in zip(row.events, rest, strict=False) for mark in event for part in _mark(mark, xs, y))
        words = "".join(_label(text_x, top + 20 + WORDS * i, line, look) for i, (look, line) in enumerate(row.words))
        place = _label(WIDTH - EDGE, top + 20, row.place, "code soft", "end")
        yield f'<g id="step-{number}-3">{_label(EDGE + 18, top + 20, str(number), "soft", "end")}{marks}{words}{place}</g>'
    yield from _legend(picture.legend, tops[-1] + 12)
    yield "</svg>"


def _bar(span: Span, lane: Lane, xs: list[int], moments: list[int], row: tuple[int, int]) -> str:
    """Return what of a span is in a row, from its top to its end."""
    since, until = max(moments[span.since], row[0]), min(moments[span.until], row[1])
    at = f'x="{xs[span.lane] - lane.bar // 2}" y="{since}" width="{lane.bar}" height="{until - since}"'
    return f'<rect class="{span.look}" {at}/>' if until > since else ""


def _legend(shown: Sequence[tuple[str, str]], y: int) -> Iterator[str]:
    x = EDGE
    for look, line in shown:
        if look:
            yield f'<rect class="{look}" x="{x}" y="{y}" width="14" height="14"/>'
        yield _label(x + 20, y + 12, line, "soft small")
        x += 38 + int(6.6 * letters_of(line))


def _mark(mark: Mark, xs: list[int], y: int) -> Iterator[str]:
    if mark.lane is None:
        yield f'<path class="clock" d="M{EDGE + NUMBER} {y}H{xs[-1] + BOX}"/>'
        return
    x, look = xs[mark.lane], "wrong" if mark.is_bad else "node"
    for end in (xs[lane] for lane in mark.to):
        side = 1 if end > x else -1
        ways = [x + RADIUS * side, end - (BOX if mark.value else 2) * side]
        tip, back = (ways[0], side) if mark.is_back else (ways[1], -side)
        yield f'<path class="way {look}" d="M{ways[0]} {y}H{ways[1]}"/>'
        yield f'<path class="{look}" d="M{tip} {y}l{8 * back} -4v8z"/>'
    end = xs[mark.to[-1]] if mark.to else x
    if mark.value:
        yield f'<rect class="cell {look}" x="{end - BOX}" y="{y - 11}" width="{2 * BOX}" height="22" rx="4"/>'
        yield _label(end, y + 5, mark.value, "bad" if mark.is_bad else "bold", "middle")
    if mark.sign:
        yield f'<circle class="{look}" cx="{x}" cy="{y}" r="{RADIUS}"/>'
        yield _label(x, y + 5, mark.sign, "on", "middle")
    # above an arrow; above the box with the value as well, if the words are too long to end before it
    is_long = bool(mark.to and mark.value) and 14 + LETTER * letters_of(mark.words) > abs(end - x) - BOX
    is_left = end < x or (bool(mark.value) and not mark.to)
    away = (14 if mark.sign else BOX + 6) * (-1 if is_left else 1)
    below = 4 if not mark.to else -14 if is_long else -5
    yield _label(x + away, y + below, mark.words, "small bad" if mark.is_bad else "small", "end" if is_left else "start")


def _label(x: int, y: int, text: str, look: str, anchor: str = "start") -> str:
    at = f'x="{x}" y="{y}" class="{look}" text-anchor="{anchor}"'
    return f"<text {at}>{escape(text, quote=False)}</text>" if text else ""
