"""Draw moments and rows of lanes as SVG in one style, and note each mark for the legend.

The lanes of a picture are side by side along a sequence. A run goes to the right, in proportion to time (``rows``);
steps and schedules go down, a row for each event (``lifelines``). The pen takes moments and rows; the view turns them into points
of the picture. The pen keeps labels apart. A kind of mark is a CSS class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import atan2, cos, degrees, radians, sin
from pathlib import Path

from lab.language import Language
from lab.story import say
from lab.story.say import ENGLISH, text
from lab.text import wrapped

STYLE = Path(__file__).parents[1].joinpath("templates", "lanes.css").read_text(encoding="utf-8")

WIDTH, EDGE = 850, 10  # px: the width of a picture, and its margin at both sides
TITLE, ABOUT, TITLE_LETTERS = 21, 18, 84  # px: the heights of a line of the title, and of the line below it; letters in a line
LETTERS = 12  # px: the size of letters
SLIM, BROAD = frozenset(" .,:;'|!ijlftr()[]-/"), frozenset("mwMW=<>+%@→⟶−–“”")
GAP = 2  # px, on both sides of a label
TALL = 11  # px, of a label
FALL = 2.5  # px, from the lower edge of a label up to the baseline of its letters
SWATCH, NEXT_TO, LEGEND = 34, 18, 20  # px: a sign in the legend, the gap to the next sign, and the height of a line
LAST = "line begins"  # the kind that is painted over all other bars and lines
DISC = 10  # px: half of a sign with a letter
SIGNS = {
    "cross": "M-4-4L4 4M4-4L-4 4",
    "diamond": "M0-4L4 0L0 4L-4 0z",
    "square": "M-3.5-3.5h7v7h-7z",
    "down": "M-3.5-4h7L0 3z",
    "tip": "M0 0L-8 4V-4z",
}
DEFINITIONS = (
    f'<defs>{"".join(f"""<path id="lane-{name}" d="{way}"/>""" for name, way in SIGNS.items())}'
    '<pattern id="lane-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path d="M0 0V6" class="line hatch"/></pattern></defs>'
)
ANCHORS = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}
Spans = Iterable[tuple[float, float, float]]  # each: its row, its beginning and its end
Moments = Iterable[tuple[float, float]]  # each: its row and its moment
Room = tuple[float, float, float, float]  # left, right, top, bottom, in px


@dataclass
class View:
    """The part of a sequence that is drawn, from top to bottom: a moment is in px from the top, and a row in px from the left."""

    since: float
    until: float

    def at(self, moment: float, row: float) -> tuple[float, float]:
        """Return the point of a moment in a row, in px from the left and from the top."""
        return row, moment

    def sees(self, at: float) -> bool:
        """Return whether a moment is in the drawn part."""
        return self.since <= at <= self.until


def width(words: str, bold: bool = False, size: float = LETTERS) -> float:
    """Return the approximate width of a text in px, in a font with wide letters."""
    letters = sum(0.38 if letter in SLIM else 0.86 if letter in BROAD else 0.63 if letter.isascii() else 1 for letter in words)
    return letters * size * (1.08 if bold else 1)


def written(words: str, x: float, y: float, kind: str = "", side: str = "left") -> str:
    """Return the SVG of a text at a point; empty without a text. side: the edge of the text at ``x``. kind: CSS classes."""
    look = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{look}{ANCHORS[side]}>{escape(words, quote=False)}</text>' if words else ""


class Pen:
    """Draw marks. Each kind of mark is noted by the code of its meaning, and the legend explains the noted kinds."""

    def __init__(self, view: View, language: Language = ENGLISH) -> None:
        self.view, self.at, self.sees, self.language = view, view.at, view.sees, language
        self.marks: dict[str, str] = {}  # by the code of a meaning: its sign for the legend
        self.paths: dict[str, dict[str, None]] = {}  # bars and lines by kind, in the order in which they are painted
        self.words: list[str] = []  # signs and texts
        # the rooms of labels, and the rooms of signs
        self.taken: list[Room] = []
        self.signed: list[Room] = []
        # the arguments of each label: labels are placed when all signs are drawn
        self.labels: list[tuple[str, float, Sequence[float], Sequence[tuple[str, float]], str]] = []
        self.texts: list[str] = []

    def say(self, name: str, n: int = 1, **places: object) -> str:
        """Return a text of the drawing. n: the number that decides between singular and plural."""
        return text("lane", name, self.language, n, **places)

    def lane(self, name: str) -> str:
        """Return the name of a lane: a word, or the name of a replica or server."""
        return str(say.words(self.language)["lane_name"].get(name, name))

    @property
    def explained(self) -> list[tuple[str, str]]:
        """Return the meaning of each noted mark, with its sign."""
        return [(text("mark_of_lane", meaning, self.language), sign) for meaning, sign in self.marks.items()]

    def shapes(self) -> str:
        """Return the bars and lines."""
        painted = sorted(self.paths.items(), key=lambda path: path[0] == LAST)
        return "\n".join(f'<path class="{kind}" d="{"".join(ways)}"/>' for kind, ways in painted)

    def _draw(self, kind: str, way: str, meaning: str, sign: str) -> None:
        self.paths.setdefault(kind, {})[way] = None
        if meaning:
            self.marks.setdefault(meaning, f'<path class="{kind}" d="{sign}"/>')

    def bars(self, spans: Spans, beside: float, wide: float, kind: str, meaning: str = "") -> None:
        """Draw bars of one kind. beside: their distance from the row. wide: their width. meaning: their code for the legend."""
        drawn: dict[tuple[float, float], list[tuple[float, float]]] = {}
        for row, since, until in spans:
            begin, end = max(since, self.view.since), min(until, self.view.until)
            if begin < end:
                (x, y), (x2, y2) = self.at(begin, row + beside), self.at(end, row + beside + wide)
                beside_it = drawn.setdefault((y, y2), [])
                if beside_it and beside_it[-1][0] <= x <= beside_it[-1][1]:  # two bars that touch are drawn as one
                    x, x2 = beside_it[-1][0], max(x2, beside_it.pop()[1])
                beside_it.append((x, x2))
        for (y, y2), bars in drawn.items():
            for x, x2 in bars:
                self._draw(f"block {kind}", f"M{x:g} {y:g}H{x2:g}V{y2:g}H{x:g}z", meaning, "M0 2h24v10h-24z")

    def area(self, steps: Sequence[tuple[float, float]], row: float, tall: float, kind: str, meaning: str) -> None:
        """Draw a number over time, as steps: each has a moment, and the part of the height from then to the next step."""
        since, until = self.view.since, self.view.until
        (x, base), (x2, _) = self.at(since, row), self.at(until, row)
        visible = [step for step in steps if step[0] < since][-1:] + [step for step in steps if since <= step[0] <= until]
        tops = dict(self.at(max(at, since), row - part * tall) for at, part in visible)  # of steps at one point, the last counts
        way = "".join(f"H{at:g}V{top:g}" for at, top in tops.items())
        self._draw(f"block {kind}", f"M{x:g} {base:g}{way}H{x2:g}V{base:g}z", meaning, "M0 2h24v10h-24z")

    def ticks(self, moments: Moments, low: float, high: float, kind: str, meaning: str = "") -> None:
        """Draw moments as lines across a part of their rows."""
        for row, at in moments:
            if self.sees(at):
                (x, y), (x2, y2) = self.at(at, row + low), self.at(at, row + high)
                self._draw(f"line {kind}", f"M{x:g} {y:g}L{x2:g} {y2:g}", meaning, "M12 1v12")

    def signs(self, moments: Moments, beside: float, sign: str, meaning: str, kind: str = "plain full") -> None:
        """Draw moments as small signs."""
        for row, at in moments:
            if self.sees(at):
                x, y = self.at(at, row + beside)
                self.words.append(f'<use href="#lane-{sign}" class="sign {kind}" x="{x:g}" y="{y:g}"/>')
                self.signed.append((x - 4, x + 4, y - 4, y + 4))
                self.marks.setdefault(meaning, f'<use href="#lane-{sign}" class="sign {kind}" x="12" y="7"/>')

    def disc(self, at: float, row: float, letter: str, kind: str) -> None:
        """Draw a moment as a large sign with a letter."""
        x, y = self.at(at, row)
        self.words.append(f'<circle class="sign full {kind}" cx="{x:g}" cy="{y:g}" r="{DISC}"/>')
        self.words.append(written(letter, x, y + 5, "on", "center"))

    def arrow(
        self, start: tuple[float, float], end: tuple[float, float], kind: str, meaning: str = "", arc: bool = False
    ) -> None:
        """Draw an arrow between two moments, each with its row. arc: draw it as an arc that comes down at its end."""
        if not (self.sees(start[0]) and self.sees(end[0])):
            return
        (x, y), (x2, y2) = self.at(*start), self.at(*end)
        top = max(2.0, min(y, y2) - 30)
        way = f"C{x:g} {top:g} {x2:g} {top:g} {x2:g} {y2:g}" if arc else f"L{x2:g} {y2:g}"
        self._draw(f"line {kind}", f"M{x:g} {y:g}{way}", "", "")
        turn = 90 if arc else degrees(atan2(y2 - y, x2 - x))
        self.words.append(
            f'<use href="#lane-tip" class="sign full {kind}" transform="translate({x2:g} {y2:g}) rotate({turn:.0f})"/>'
        )
        x, y = x2 - 4 * cos(radians(turn)), y2 - 4 * sin(radians(turn))
        self.signed.append((x - 4, x + 4, y - 4, y + 4))
        if meaning and meaning not in self.marks:
            self.marks[meaning] = (
                f'<path class="line {kind}" d="M2 7h16"/><use href="#lane-tip" class="sign full {kind}" x="24" y="7"/>'
            )

    def label(self, words: str, at: float, rows: Sequence[float], sides: Sequence[tuple[str, float]], kind: str = "") -> None:
        """Write a text at the first place in view at which it covers no other text, and if possible no sign.

        rows: the rows of the text's lower edge to try. sides: to try, each the text's edge at the moment and its distance in px.
        """
        if self.sees(at):
            self.labels.append((words, at, rows, sides, kind))

    def place_labels(self) -> None:
        """Place all labels, in the order in which they were given."""
        right = self.at(self.view.until, 0)[0]
        for words, at, rows, sides, kind in self.labels:
            rooms = [((row, *side), self._room(words, at, row, *side, kind)) for row in rows for side in sides]
            in_view = [candidate for candidate in rooms if candidate[1][0] >= 0 and candidate[1][1] <= right]
            free = [candidate for candidate in in_view if not any(_cover(candidate[1], room) for room in self.taken)]
            clear = [candidate for candidate in free if not any(_cover(candidate[1], room) for room in self.signed)]
            for place, room in [*clear, *free][:1]:
                row, side, aside = place
                x, y = self.at(at, row)
                self.taken.append(room)
                self.texts.append(words)
                self.words.append(written(words, x + aside, round(y - FALL, 1), kind, side))

    def _room(self, words: str, at: float, row: float, side: str, aside: float, kind: str) -> Room:
        """Return the room of a text."""
        size = width(words, "bold" in kind or "bad" in kind)
        x, y = self.at(at, row)
        left = x + aside - {"left": 0, "center": size / 2, "right": size}[side]
        return left - GAP, left + size + GAP, y - TALL, y


def _cover(first: Room, second: Room) -> bool:
    return first[0] < second[1] and second[0] < first[1] and first[2] < second[3] and second[2] < first[3]


def headed(title: str, about: str) -> tuple[list[str], int]:
    """Return the head of a picture, with its height in px. about: the line below the title."""
    lines = wrapped(title, TITLE_LETTERS)
    parts = [written(line, EDGE, 24 + TITLE * number, "title") for number, line in enumerate(lines)]
    head = 10 + TITLE * len(lines)
    return ([*parts, written(about, EDGE, head + 12, "soft small")], head + ABOUT) if about else (parts, head)


def legend(explained: Iterable[tuple[str, str]], top: float) -> tuple[list[str], float]:
    """Return the legend of a picture, and its lower end in px. explained: meanings with their signs. top: its upper end in px."""
    parts, x, y = [], EDGE, top
    for meaning, sign in explained:
        wide = SWATCH + width(meaning) + NEXT_TO
        if x > EDGE and x + wide - NEXT_TO > WIDTH - EDGE:
            x, y = EDGE, y + LEGEND
        parts.append(f'<g transform="translate({x:g} {y:g})">{sign}</g>{written(meaning, x + SWATCH, y + 11, "soft small")}')
        x += round(wide)
    return parts, y + LEGEND


def picture(title: str, parts: Iterable[str], height: float, description: str = "", about: str = 'class="lane-ink"') -> str:
    """Return a picture as a complete SVG, without fonts, scripts and links. about: attributes of its root."""
    size = f'viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="t{" d" if description else ""}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} {about}>',
            f'<title id="t">{escape(title, quote=False)}</title>',
            *([f'<desc id="d">{escape(description, quote=False)}</desc>'] if description else []),
            f"<style>{STYLE}</style>{DEFINITIONS}",
            f'<rect class="paper" width="{WIDTH}" height="{height:g}"/>',
            *parts,
            "</svg>\n",
        ]
    )
