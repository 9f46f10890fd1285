"""The pen of a run's drawing, with its colours: it draws in microseconds and rows, and notes each mark for the legend.

It keeps labels apart. A kind of mark is a class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from lab.language import Language
from lab.report.lanes.rows import LEFT, RIGHT, ROOM, WIDTH, Axis, Rows
from lab.story.say import ENGLISH, text, words
from lab.story.timeline import NEVER

# in the order in which they are painted
KINDS = (
    "down", "waiting", "fault", "expired", "lease", "vote-other", "vote-alone", "vote", "call", "message", "message own", "outer",
    "belief", "alone", "both", "reading", "writing", "keeps", "wait", "read", "write", "write over", "theft", "begins",
    "loss arc",
)  # fmt: skip

STYLE = """
.lane-ink{--page:#fff;--text:#1c1c1c;--soft:#565656;--line:#dcdcd8;--grid:#ededea;--bad:#a34700;--loss:#d55e00;--belief:#a9d3ee;
--alone:#f2bd4d;--lease:#009e73;--read:#b9bdc0;--writing:#7db5d8;--write:#0072b2;--grey:#999;--orange:#e69f00}
@media(prefers-color-scheme:dark){.lane-ink{--page:#161616;--text:#ececec;--soft:#b4b4b4;--line:#444;--grid:#2b2b2b;--bad:#ff9d5c;
--loss:#ff8a3c;--belief:#2c526b;--alone:#96691a;--lease:#3fc79c;--read:#63696e;--writing:#3d7ba5;--write:#7cc4f5;--orange:#f0b23c}}
.lane-ink text{font:12px system-ui,"DejaVu Sans",Arial,sans-serif;fill:var(--text)}
.lane-ink .title{font-size:16px;font-weight:700}.lane-ink .soft{fill:var(--soft)}.lane-ink .lane{font-size:13px}
.lane-ink .bold,.lane-ink .bad{font-weight:600}.lane-ink .bad{fill:var(--bad)}
.lane-ink .words text{paint-order:stroke;stroke:var(--page);stroke-opacity:.75;stroke-width:2.5px;stroke-linejoin:round}
.lane-ink .paper{fill:var(--page)}.lane-ink .grid{stroke:var(--grid);fill:none}.lane-ink .edge{stroke:var(--line);fill:none}
.lane-ink .block{fill:var(--of);stroke:var(--of);stroke-width:.5;vector-effect:non-scaling-stroke}
.lane-ink .line{fill:none;stroke:var(--of);stroke-width:1.4;vector-effect:non-scaling-stroke}
.lane-ink .sign{fill:none;stroke:var(--of);stroke-width:1.4}.lane-ink .full{fill:var(--of)}.lane-ink .hollow{fill:var(--page)}
.lane-ink :is(.down,.fault){--of:var(--grey);opacity:.3}.lane-ink .waiting{--of:var(--grey);opacity:.5}
.lane-ink :is(.lease,.vote,.keeps){--of:var(--lease)}.lane-ink :is(.expired,.vote-other){--of:var(--lease);opacity:.35}
.lane-ink .vote-alone{--of:var(--grey);opacity:.6}.lane-ink :is(.call,.reading){--of:var(--read)}
.lane-ink .belief{--of:var(--belief)}.lane-ink .outer{--of:var(--belief);opacity:.45}.lane-ink .alone{--of:var(--alone)}
.lane-ink .writing{--of:var(--writing)}.lane-ink .wait{--of:var(--soft)}.lane-ink :is(.read,.plain){--of:var(--text)}
.lane-ink .write{--of:var(--write);stroke-width:2}.lane-ink .message{--of:var(--grey);stroke-width:.9}
.lane-ink :is(.both,.over,.theft,.begins,.harm,.loss){--of:var(--loss)}.lane-ink .failed{--of:var(--orange)}
.lane-ink :is(.arc,.theft){stroke-width:1.9}.lane-ink .begins{stroke-dasharray:1 3;stroke-width:1.6}
.lane-ink .bend{stroke:var(--soft);stroke-width:3;stroke-dasharray:3 3}.lane-ink .crowded .write{stroke-width:.7}
"""


LETTERS = 12  # px
SLIM, BROAD = frozenset(" .,:;'|!ijltfr()[]-/"), frozenset("mwMW=<>+%@→⟶−–“”")
GAP = 2  # px, on both sides of a label
TALL = 11  # px, of a label
TOP = 12  # px, above the first row: a label may stand there
FALL = 2.5  # px, from the lower edge of a label up to the line on which its letters stand
LEGEND_COLUMNS = 3  # at most
SWATCH, NEXT_TO = 34, 18  # px: the sign in the legend, and the distance to the next column
LINES = ("message", "message own", "read", "write", "write over", "theft", "begins", "loss arc")  # the other kinds are bars
SIGNS = {
    "cross": "M-4-4L4 4M4-4L-4 4",
    "diamond": "M0-4L4 0L0 4L-4 0z",
    "circle": "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "square": "M-3.5-3.5h7v7h-7z",
    "down": "M-3.5-4h7L0 3z",
    "up": "M-3.5 7h7L0 0z",
    "head": "M-4-8h8L0 0z",
}
TALL_SIGNS = {"down": (-4, 3), "up": (0, 7), "head": (-8, 0)}  # from its moment's height, where they begin and end; others: 4 px
Spans = Iterable[tuple[float, float]]
Room = tuple[float, float, float, float]
ANCHORS = {"left": "", "center": ' text-anchor="middle"', "right": ' text-anchor="end"'}


def n(number: float) -> str:
    """Return a number as it stands in the drawing."""
    return repr(round(number, 6)).removesuffix(".0")


def width(said: str, bold: bool = False, size: float = LETTERS) -> float:
    """Return about how wide a text is in px, in a font with wide letters."""
    letters = sum(0.38 if letter in SLIM else 0.86 if letter in BROAD else 0.63 if letter.isascii() else 1 for letter in said)
    return letters * size * (1.08 if bold else 1)


def look(kind: str) -> str:
    """Return the classes of a kind of bar or line."""
    return f"{'line' if kind in LINES else 'block'} {kind}"


class Pen:
    """Each kind of mark is noted when it is drawn, by the code of its meaning, and the legend explains those."""

    def __init__(self, axis: Axis, rows: Rows, language: Language = ENGLISH) -> None:
        self.language = language
        self.axis, self.rows = axis, rows
        self.marks: dict[str, str] = {}  # the code of what each mark means, and its sign for the legend
        self.is_crowded = False  # whether lines are thin, for there are many grants in view
        self.paths: dict[str, list[str]] = {}  # bars and lines by kind; those of a kind are drawn at once
        self.words: list[str] = []  # signs and texts
        # where labels stand, and where signs: since and until in px from the left, top and bottom in px
        self.taken: list[Room] = []
        self.signed: list[Room] = []
        # the arguments of each label: they are placed when all signs are drawn
        self.labels: list[tuple[str, float, Sequence[float], Sequence[tuple[str, float]], str]] = []
        self.texts: list[str] = []

    def say(self, name: str, n: int = 1, **places: object) -> str:
        """Return a text of the drawing. n: how many."""
        return text("lane", name, self.language, n, **places)

    def lane(self, name: str) -> str:
        """Return the name of a lane: a word, or the name of a replica or server."""
        return str(words(self.language)["lane_name"].get(name, name))

    @property
    def axis_name(self) -> str:
        """Return what the axis shows."""
        if self.axis.bend == NEVER:
            return self.say("axis")
        return self.say("axis_bent", since=f"{self.axis.bend / 1e6:.2f}", times=f"{self.axis.denser_by:.0f}")

    @property
    def explained(self) -> list[tuple[str, str]]:
        """Return what each mark means, with its sign."""
        return [(text("mark_of_lane", meaning, self.language), sign) for meaning, sign in self.marks.items()]

    def x(self, at: float) -> float:
        """Return the place of a moment, in px from the left end of the axis."""
        return round(self.axis.place(at) * ROOM, 1)

    def y(self, row: float) -> float:
        """Return how far a row is from the top, in px."""
        return round(TOP + row * self.rows.each, 1)

    def shapes(self) -> str:
        """Return the bars and lines, in the order in which they are painted."""
        return "\n".join(f'<path class="{look(kind)}" d="{"".join(self.paths[kind])}"/>' for kind in KINDS if kind in self.paths)

    def _draw(self, kind: str, way: str) -> None:
        self.paths.setdefault(kind, []).append(way)

    def bars(self, spans: Spans, y: float, height: float, kind: str, meaning: str = "") -> None:
        """Draw bars of one kind. meaning: what the legend states of them."""
        top, tall = self.y(y), round(height * self.rows.each, 1)
        for since, until in spans:
            if not (since < until and self.sees(since, until)):
                continue
            left = self.x(max(since, self.axis.since))
            wide = round(self.x(min(until, self.axis.until)) - left, 1)
            self._draw(kind, f"M{n(left)} {n(top)}h{n(wide)}v{n(tall)}h{n(-wide)}z")
            if meaning and meaning not in self.marks:
                self.marks[meaning] = f'<path class="{look(kind)}" d="M0 2h24v10h-24z"/>'

    def area(self, steps: Sequence[tuple[float, float]], y: float, height: float, kind: str, meaning: str) -> None:
        """Draw how a number changes, as steps of a moment and the part of the height from then on. They end with the axis."""
        since, until = self.axis.since, self.axis.until
        base, way = self.y(y), ""
        for at, part in [step for step in steps if step[0] < since][-1:] + [step for step in steps if since <= step[0] <= until]:
            way += f"H{n(self.x(max(at, since)))}V{n(round(base - part * height * self.rows.each, 1))}"
        self._draw(kind, f"M{n(self.x(since))} {n(base)}{way}H{n(self.x(until))}V{n(base)}z")
        self.marks.setdefault(meaning, f'<path class="{look(kind)}" d="M0 2h24v10h-24z"/>')

    def ticks(self, moments: Iterable[float], low: float, high: float, kind: str, meaning: str) -> None:
        """Draw moments as lines across a part of a row."""
        top, tall = self.y(low), round((high - low) * self.rows.each, 1)
        for at in moments:
            if self.sees(at, at):
                self._draw(kind, f"M{n(self.x(at))} {n(top)}v{n(tall)}")
                self.marks.setdefault(meaning, f'<path class="{look(kind)}" d="M12 1v12"/>')

    def signs(self, moments: Iterable[float], y: float, sign: str, meaning: str, kind: str = "plain full") -> None:
        """Draw moments as small signs."""
        for at in moments:
            if self.sees(at, at):
                self._sign(sign, kind, self.x(at), self.y(y))
                self.marks.setdefault(meaning, f'<use href="#lane-{sign}" class="sign {kind}" x="12" y="7"/>')

    def _sign(self, sign: str, kind: str, x: float, y: float) -> None:
        self.words.append(f'<use href="#lane-{sign}" class="sign {kind}" x="{n(x)}" y="{n(y)}"/>')
        above, below = TALL_SIGNS.get(sign, (-4, 4))
        self.signed.append((x - 4, x + 4, y + above, y + below))

    def arrow(self, start: tuple[float, float], end: tuple[float, float], meaning: str, kind: str) -> None:
        """Draw an arrow upwards between two moments, each with its row."""
        if not (self.sees(start[0], start[0]) and self.sees(end[0], end[0])):
            return
        x, y = self.x(end[0]), self.y(end[1])
        self._draw(kind, f"M{n(self.x(start[0]))} {n(self.y(start[1]))}L{n(x)} {n(y)}")
        self._sign("up", f"full {kind}", x, y)
        self.marks.setdefault(meaning, _arrow_sign(kind))

    def arc(self, start: tuple[float, float], end: tuple[float, float], meaning: str) -> None:
        """Draw an arc from a moment to another, each with its row; it ends from above."""
        (x, y), (x2, y2) = ((self.x(at), self.y(row)) for at, row in (start, end))
        top = round(max(2.0, min(y, y2) - 30), 1)
        self._draw("loss arc", f"M{n(x)} {n(y)}C{n(x)} {n(top)} {n(x2)} {n(top)} {n(x2)} {n(y2)}")
        self._sign("head", "full loss", x2, y2)
        self.marks.setdefault(meaning, _arrow_sign("harm arc"))

    def write(self, said: str, at: float, y: float, side: str = "left", aside: float = 0, kind: str = "") -> None:
        """Write a text, whatever is there.

        side: the text's edge that is at the moment; aside: how far from it, in px.
        """
        if said and self.sees(at, at):
            self.taken.append(self._room(said, at, y, side, aside, kind))
            self._write(said, at, y, side, aside, kind)

    def label(
        self,
        said: str,
        at: float,
        heights: Sequence[float],
        sides: Sequence[tuple[str, float]],
        kind: str = "",
        until: float | None = None,
    ) -> None:
        """Write a text at the first place where it is in view and covers no other, and no sign if possible.

        heights: the rows to try, of the text's lower edge. sides: to try, as ``write`` takes them. until: the end of what it
        names; the text may stand later than ``at``, at the begin of the axis.
        """
        begin = at if until is None else max(at, self.axis.since)
        if self.axis.has(begin):
            self.labels.append((said, begin, heights, sides, kind))

    def place_labels(self) -> None:
        """Place all labels, those that came first before the others."""
        for said, at, heights, sides, kind in self.labels:
            rooms = [((y, *side), self._room(said, at, y, *side, kind)) for y in heights for side in sides]
            in_view = [one for one in rooms if one[1][0] >= 0 and one[1][1] <= ROOM]
            free = [one for one in in_view if not any(_cover(one[1], other) for other in self.taken)]
            clear = [one for one in free if not any(_cover(one[1], other) for other in self.signed)]
            for place, room in [*clear, *free][:1]:
                self.taken.append(room)
                self._write(said, at, *place, kind)

    def _write(self, said: str, at: float, y: float, side: str, aside: float, kind: str) -> None:
        self.texts.append(said)
        place = f'x="{n(self.x(at))}"' + (f' dx="{aside:g}"' if aside else "") + f' y="{n(self.y(y) - FALL)}"' + ANCHORS[side]
        self.words.append(f"<text {place}{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escape(said)}</text>")

    def _room(self, said: str, at: float, y: float, side: str, aside: float, kind: str) -> Room:
        """Return the room that a text takes."""
        size = width(said, "bold" in kind or "bad" in kind)
        left = self.x(at) + aside - {"left": 0, "center": size / 2, "right": size}[side]
        return left - GAP, left + size + GAP, self.y(y) - TALL, self.y(y)

    def sees(self, since: float, until: float) -> bool:
        """Return whether a part of a span is drawn."""
        return since <= self.axis.until and until >= self.axis.since

    def legend(self, top: float) -> tuple[str, float]:
        """Return the legend of a still picture from a height on, and where it ends."""
        explained = self.explained
        wide = [SWATCH + width(meaning) + NEXT_TO for meaning, _ in explained]
        lines, columns = len(wide), [max(wide, default=0)]
        for number in range(LEGEND_COLUMNS, 1, -1):
            each = -(-len(wide) // number)
            columns = [max(wide[place : place + each]) for place in range(0, len(wide), each)]
            if sum(columns) <= WIDTH - 2 * RIGHT:
                lines = each
                break
        else:
            columns = columns[:1]
        found = []
        for place, (meaning, sign) in enumerate(explained):
            column, line = divmod(place, lines)
            x, y = RIGHT + sum(columns[:column]), top + 20 * line
            found.append(f'<g transform="translate({x:.0f} {n(y)})">{sign}<text x="{SWATCH}" y="11">{escape(meaning)}</text></g>')
        return "\n".join(found), top + 20 * lines


def _cover(one: Room, other: Room) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _arrow_sign(kind: str) -> str:
    return f'<path class="line {kind}" d="M2 7h16"/><path class="sign full {kind}" d="M16 3.5L24 7L16 10.5z"/>'


def definitions() -> str:
    """Return the signs, which stand once in a drawing."""
    return "<defs>" + "".join(f'<path id="lane-{name}" d="{way}"/>' for name, way in SIGNS.items()) + "</defs>"


def grid(axis: Axis, height: float) -> str:
    """Return the lines and the numbers of the axis."""
    places = [(round(LEFT + axis.place(at) * ROOM, 1), f"{at / 1e6:g}") for at in axis.ticks()]
    lines = "".join(f"M{n(x)} 0V{height:g}" for x, _ in places)
    numbers = "".join(
        f'<text x="{n(x)}" y="{height + 16:g}" text-anchor="middle" class="soft">{said}</text>' for x, said in places
    )
    return f'<g class="ticks"><path class="grid" d="{lines}"/>{numbers}</g>'
