"""The picture of a loss in steps, as SVG: the two holders, the lock and the counter as lifelines, a sentence for each step.

The steps have equal distances, whatever the time between them. Each part of a step has an id, so that a page can show the steps
one after the other. The colours are those of the charts: a page has darker ones for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import count, pairwise

from lab.language import Language
from lab.story import say, say_run
from lab.story.happening import Kind
from lab.story.say import ENGLISH
from lab.story.steps import Event, Line, Step, StepsOfLoss
from lab.text import letters_of, wrapped

BLUE, RED, GREEN = "#0072b2", "#d55e00", "#009e73"  # as in the charts and the timeline
BELIEF, ALONE = "#a9d3ee", "#f2bd4d"
SOFT, DARK, PALE, PAPER = "#555555", "#222222", "#dddddd", "#ffffff"
WIDTH, EDGE = 850, 12
PLACES = {Line.A: 62, Line.LOCK: 196, Line.B: 330, Line.COUNTER: 450}
WITHOUT_LOCK = {Line.A: 62, Line.B: 256, Line.COUNTER: 450}
WITHOUT_COUNTER = {Line.A: 62, Line.LOCK: 256, Line.B: 450}
SENTENCES = 530
BOLD_LETTER = 8  # its width
Span = tuple[Line, float, float, str]  # of a lifeline, from one height to another, in a colour
BOX = 22  # half the width of the box with the counter's value
TITLE_LETTERS, SENTENCE_LETTERS, NAME_LETTERS = 88, 42, 11  # of a line
TITLE, LINE, ROW, HEAD, LEGEND = 22, 18, 28, 62, 34  # heights
FONT = 'system-ui,"DejaVu Sans",Arial,sans-serif'


def draw(found: StepsOfLoss, conditions: str, language: Language = ENGLISH) -> str:
    """Return the picture. conditions: of the run, in words."""
    return "\n".join(_Drawing(found, conditions, language).parts()) + "\n"


class _Drawing:
    """The drawing, from the top down."""

    def __init__(self, found: StepsOfLoss, conditions: str, language: Language) -> None:
        self.found, self.conditions, self.language = found, conditions, language
        self.places = WITHOUT_COUNTER if not found.has_counter else PLACES if found.locked else WITHOUT_LOCK
        self.title = wrapped(say_run.title_of_steps(found, language), TITLE_LETTERS)
        self.sentences = [wrapped(say_run.of_a_step(step, language), SENTENCE_LETTERS) for step in found.steps]
        self.head = TITLE * len(self.title) + LINE + HEAD
        rooms = [_room(step, lines) for step, lines in zip(found.steps, self.sentences, strict=True)]
        self.tops = [self.head + sum(rooms[:number]) for number in range(len(rooms) + 1)]
        self.bottom = self.tops[-1]
        # the row of each event, in the middle of the room of its step
        self.rows = [
            (event, self.tops[number] + (room - 10) / len(step) * (place + 0.5))
            for number, (step, room) in enumerate(zip(found.steps, rooms, strict=True))
            for place, event in enumerate(step)
        ]

    def parts(self) -> Iterator[str]:
        """Yield the lines of the file."""
        height = self.bottom + LEGEND
        top = TITLE * len(self.title) + LINE + EDGE
        size = f'viewBox="0 0 {WIDTH} {height}" data-lanes="0 {top} {SENTENCES - EDGE} {height - top}"'
        font = f'font-family="{escape(FONT)}" font-size="13"'
        yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>'
        yield f"<title>{escape(say_run.title_of_steps(self.found, self.language))}</title>"
        yield f'<rect width="{WIDTH}" height="{height}" style="fill: {PAPER}"/>'
        for number, line in enumerate(self.title):
            yield _text(EDGE, 24 + TITLE * number, line, DARK, "font-size:16px;font-weight:bold", name="title")
        yield _text(EDGE, 22 + TITLE * len(self.title), self.conditions, SOFT)
        yield from self.lifelines()
        yield from self.bars()
        rows = iter(self.rows)
        for number, (step, clock) in enumerate(
            zip(self.found.steps, say_run.clocks(self.found.steps, self.language), strict=True)
        ):
            part = count(1)
            for drawn in (*self.sentence(number, step, clock), *(mark for _ in step for mark in self.event(*next(rows)))):
                yield f'<g id="step-{number + 1}-{next(part)}">{drawn}</g>'
        yield from self.legend()
        yield "</svg>"

    def says(self, name: str) -> str:
        return say.text("steps", name, self.language)

    def lifelines(self) -> Iterator[str]:
        lock = self.says("local_locks" if self.found.local else "lock")
        heads = {
            Line.A: ("A", self.found.a),
            Line.LOCK: (lock, ()),
            Line.B: ("B", self.found.b),
            Line.COUNTER: (self.says("counter"), ()),
        }
        for line, x in self.places.items():
            name, about = heads[line]
            names = wrapped(name, NAME_LETTERS)
            for number, words in enumerate(names):
                y = self.head - 34 - 16 * (len(names) - 1 - number)
                yield _text(x, y, words, DARK, "font-size:14px;font-weight:bold", "middle")
            for number, words in enumerate(about):
                yield _text(x, self.head - 20 + 14 * number, words, SOFT, "font-size:12px", "middle")
            yield _path(f"M{x} {self.head}V{self.bottom}", PALE, 2)

    def bars(self) -> Iterator[str]:
        """Draw how long A and B act as holders, and from when on without the lock: in each step what of it is in that step."""
        spans = list(self.acting() if self.found.has_counter else self.taken())
        for number, room in enumerate(pairwise(self.tops), 1):
            for place, (line, begin, end, colour) in enumerate(spans, 1):
                drawn = "".join(_bar(self.places[line], max(begin, room[0]), min(end, room[1]), colour))
                if drawn:
                    yield f'<g id="step-{number}-bar-{place}">{drawn}</g>'

    def acting(self) -> Iterator[Span]:
        """Yield how long A and B act as holders, and from when on A does so without the lock."""
        lost = next((y for event, y in self.rows if event.loses_lock), None)
        for line in (Line.A, Line.B):
            own = [y for event, y in self.rows if event.actor is line]
            begin, end = min(own), max(own)
            alone = lost if line is Line.A and lost is not None else end
            yield line, begin, min(alone, end), BELIEF
            yield line, alone, end, ALONE

    def taken(self) -> Iterator[Span]:
        """Yield until when A acts as the holder, and until when its key keeps the lock taken."""
        at = {event.what.kind: y for event, y in self.rows}
        got, over = at.get(Kind.GRANTED, self.head), at.get(Kind.LEASE_OVER, at.get(Kind.NEXT_GOT, self.bottom))
        yield Line.A, got, at[Kind.FAULT], BELIEF
        yield Line.LOCK, got, over, ALONE

    def sentence(self, number: int, step: Step, clock: str) -> Iterator[str]:
        colour = RED if any(event.is_harm for event in step) else SOFT
        top = self.tops[number]
        yield _text(SENTENCES, top + 14, f"{number + 1}\u2003{clock}", colour, "font-size:12px;font-weight:bold")
        for place, words in enumerate(self.sentences[number]):
            yield _text(SENTENCES, top + 32 + LINE * place, words, DARK)

    def event(self, event: Event, y: float) -> Iterator[str]:
        """Yield the marks of an event: an arrow to another lifeline, or a sign at one, and its words next to the holder."""
        words = say_run.at_mark(event, self.language)
        if event.source is Line.COUNTER is event.target:  # another request's write
            yield _text(self.places[Line.COUNTER] - BOX - 6, y + 4, words, GREEN, "font-size:12px;font-weight:bold", "end")
            yield from self.value(event, y, GREEN)
            return
        if event.source is event.target:
            x = self.places.get(event.source, self.places[Line.A])
            own = f'<circle cx="{x}" cy="{y:g}" r="5" style="fill: {DARK}"/>'
            yield own if event.is_own else _path(f"M{x - 5} {y - 5:g}l10 10m0 -10l-10 10", RED, 4)
            yield _text(x + 10, y + 4, words, DARK if event.is_own else RED, "font-size:12px")
            return
        colour, begin, end = RED if event.is_harm else BLUE, self.places[event.source], self.places[event.target]
        side = 1 if end > begin else -1
        tip = end - (BOX if event.target is Line.COUNTER else 6) * side
        yield _path(f"M{begin} {y:g}H{tip - 6 * side}", colour, 3 if event.is_harm else 2)
        yield f'<path d="M{tip} {y:g}l{-10 * side} -5v10z" style="fill: {colour}"/>'
        holder, other = (begin, end) if event.actor is event.source else (end, begin)
        towards = 1 if other > holder else -1
        weight = ";font-weight:bold" if event.is_harm else ""
        anchor = "start" if towards > 0 else "end"
        # above the arrow; above the box with the value as well, where the words are too long to end before it
        is_long = event.target is Line.COUNTER and 12 + BOLD_LETTER * letters_of(words) > other - holder - BOX
        yield _text(
            holder + 12 * towards,
            y - (14 if is_long else 5),
            words,
            RED if event.is_harm else DARK,
            f"font-size:12px{weight}",
            anchor,
        )
        if event.target is Line.COUNTER:
            yield from self.value(event, y, RED if event.is_harm else BLUE)

    def value(self, event: Event, y: float, colour: str) -> Iterator[str]:
        """Yield the counter's value after a write, in a box on its lifeline."""
        x = self.places[Line.COUNTER]
        size = f'x="{x - BOX}" y="{y - 10:g}" width="{2 * BOX}" height="20" rx="4"'
        yield f'<rect {size} style="fill: {PAPER}; stroke: {colour}; stroke-width: 2"/>'
        yield _text(x, y + 5, str(event.what.value), colour, "font-size:14px;font-weight:bold", "middle")

    def legend(self) -> Iterator[str]:
        shown = [(BELIEF, "holds" if self.found.locked else "works")] + ([] if self.found.has_counter else [(ALONE, "taken")])
        if self.found.locked and any(event.loses_lock for event, _ in self.rows):
            shown.append((ALONE, "lost"))
        x, y = EDGE, self.bottom + 12
        for colour, name in shown:
            yield f'<rect x="{x}" y="{y}" width="14" height="14" style="fill: {colour}"/>'
            yield _text(x + 20, y + 12, self.says(name), SOFT, "font-size:12px")
            x += 48 + 7 * letters_of(self.says(name))
        yield _text(x, y + 12, self.says("distances"), SOFT, "font-size:12px")


def _room(step: Step, lines: list[str]) -> int:
    """Return how high a step is: its number and its sentence, or its events."""
    return max(32 + LINE * len(lines), ROW * len(step) + 10)


def _bar(x: int, begin: float, end: float, colour: str) -> Iterator[str]:
    if end > begin:
        yield f'<rect x="{x - 8}" y="{begin:g}" width="16" height="{end - begin:g}" style="fill: {colour}"/>'


def _path(way: str, colour: str, width: int) -> str:
    return f'<path d="{way}" style="fill: none; stroke: {colour}; stroke-width: {width}"/>'


def _text(x: float, y: float, words: str, colour: str, style: str = "", anchor: str = "start", name: str = "part") -> str:
    at = f'x="{x:g}" y="{y:g}" class="{name}" text-anchor="{anchor}"'
    return f'<text {at} style="fill: {colour};{style}">{escape(words, quote=False)}</text>'
