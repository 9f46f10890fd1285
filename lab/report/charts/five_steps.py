"""One loss in at most six steps: the two holders, the lock and the counter as lifelines, a sentence for each step.

The steps have equal distances, whatever the time between them. Each part of a step has an id, so that a page can show the
steps one after the other.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import count

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Patch, Rectangle

from lab.report.chart import BLUE, RED, conditions, title
from lab.report.five_steps import Event, FiveSteps, Line, Step, five_steps
from lab.report.run_data import Result
from lab.story.timeline import load

FOR = "one"
BELIEF, ALONE = "#a9d3ee", "#f2bd4d"  # as in the timeline
SOFT, DARK, PALE = "#555555", "#222222", "#dddddd"
WIDTH = 100.0  # of the axes
PLACES = {Line.A: 7.0, Line.LOCK: 23.0, Line.B: 39.0, Line.COUNTER: 53.0}
WITHOUT_LOCK = {Line.A: 7.0, Line.B: 30.0, Line.COUNTER: 53.0}
SENTENCES = 62.0
LETTERS = 41  # of a sentence in a line
HEAD = 1.6  # rows above the first step
ROW_IN = 0.28  # the height of a row in inches: of an event, or of a line of a sentence
NAMED = 11  # letters of a name below a lifeline's head


def fits(results: Sequence[Result]) -> bool:
    """Return whether the run lost something by a conflict of two known requests."""
    return all(_story(result) is not None for result in results)


def height(results: Sequence[Result]) -> float:
    """Return the height in inches."""
    story = _story(results[0])
    return 4.6 if story is None else 1.7 + ROW_IN * (HEAD + sum(map(_rows, story.steps)))


def draw(axes: Axes, results: Sequence[Result]) -> None:
    (result,) = results
    story = _story(result)
    if story is None:
        return
    _Drawing(axes, story).draw()
    title(axes, story.finding, conditions(results))


def _story(result: Result) -> FiveSteps | None:
    picture = load(result.folder / "timeline.json")
    return None if picture is None else five_steps(picture)


def _lines(step: Step) -> list[str]:
    return textwrap.wrap(step.sentence, LETTERS)


def _rows(step: Step) -> float:
    """Return the rows that a step takes: its number and its sentence, or its events, and some room."""
    return max(1 + len(_lines(step)) * 0.8, 1.2 * len(step.events)) + 0.6


class _Drawing:
    """The drawing, from the top down."""

    def __init__(self, axes: Axes, story: FiveSteps) -> None:
        self.axes, self.story = axes, story
        self.places = PLACES if story.lock else WITHOUT_LOCK
        self.bottom = HEAD + sum(map(_rows, story.steps))
        # the row of each event, from the top
        self.row_of: dict[Event, float] = {}
        self.number, self.part = 0, count(1)

    def draw(self) -> None:
        axes = self.axes
        axes.set_xlim(0, WIDTH)
        axes.set_ylim(self.bottom, -0.2)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
        self.place()
        self.lifelines()
        self.bars()
        top = HEAD
        for step in self.story.steps:
            self.number, self.part = self.number + 1, count(1)
            self.sentence(step, top)
            for event in step.events:
                self.event(event)
            top += _rows(step)
        self.legend()

    def place(self) -> None:
        """Give each event its row, in the middle of the room of its step."""
        top = HEAD
        for step in self.story.steps:
            room = _rows(step)
            each = (room - 0.4) / len(step.events)
            for place, event in enumerate(step.events):
                self.row_of[event] = top + each * (place + 0.5)
            top += room

    def lifelines(self) -> None:
        heads = {Line.A: ("A", self.story.a), Line.LOCK: (self.story.lock, ""), Line.B: ("B", self.story.b)}
        heads[Line.COUNTER] = ("the counter", "")
        for line, x in self.places.items():
            name, about = heads[line]
            words = "\n".join(textwrap.wrap(name, NAMED))
            self.axes.text(x, 0.55, words, ha="center", va="bottom", fontsize=11, fontweight="bold", color=DARK)
            self.axes.text(x, 0.6, about.replace(" at ", "\n"), ha="center", va="top", fontsize=9, color=SOFT)
            self.axes.vlines(x, HEAD, self.bottom - 0.2, color=PALE, linewidth=1.6, zorder=1)

    def bars(self) -> None:
        """Draw how long A and B act as holders, and from when on A does so without the lock."""
        events = list(self.row_of)
        lost = next((self.row_of[event] for event in events if event.loses_lock), None)
        for line in (Line.A, Line.B):
            rows = [self.row_of[event] for event in events if event.actor is line]
            begin, end = min(rows), max(rows)
            alone = lost if line is Line.A and lost is not None else end
            self.bar(line, begin, min(alone, end), BELIEF)
            self.bar(line, alone, end, ALONE)

    def bar(self, line: Line, begin: float, end: float, colour: str) -> None:
        if end > begin:
            x = self.places[line]
            self.axes.add_patch(Rectangle((x - 0.9, begin), 1.8, end - begin, color=colour, linewidth=0, zorder=2))

    def mark(self, artist: Artist) -> None:
        """Give a part of the step its id."""
        artist.set_gid(f"step-{self.number}-{next(self.part)}")

    def sentence(self, step: Step, top: float) -> None:
        colour = RED if step.is_harm else DARK
        head = f"{self.number}   {step.clock}"
        self.mark(
            self.axes.text(SENTENCES, top + 0.65, head, fontsize=9.5, fontweight="bold", color=colour if step.is_harm else SOFT)
        )
        for place, words in enumerate(_lines(step)):
            self.mark(self.axes.text(SENTENCES, top + 1.45 + 0.8 * place, words, fontsize=10.5, color=DARK))

    def event(self, event: Event) -> None:
        y = self.row_of[event]
        colour = RED if event.is_harm else DARK
        if event.source is event.target:
            self.at_one_line(event, y)
            return
        begin, end = self.places[event.source], self.places[event.target]
        arrow = FancyArrowPatch((begin, y), (end, y), arrowstyle="-|>", mutation_scale=13, shrinkA=3, shrinkB=3, zorder=4)
        arrow.set(color=RED if event.is_harm else BLUE, linewidth=2.4 if event.is_harm else 1.5)
        self.mark(self.axes.add_patch(arrow))
        # next to the holder, where no other arrow ends
        holder = self.places[event.actor] if event.actor is not None else begin
        other = end if holder == begin else begin
        side = 1 if other > holder else -1
        words = self.axes.text(
            holder + 1.6 * side,
            y - 0.14,
            event.label,
            ha="left" if side > 0 else "right",
            fontsize=9,
            color=colour,
            fontweight="bold" if event.is_harm else "normal",
            zorder=5,
        )
        self.mark(words)

    def at_one_line(self, event: Event, y: float) -> None:
        x = self.places.get(event.source, self.places[Line.A])
        colour = DARK if event.is_own else RED
        (mark,) = self.axes.plot([x], [y], "X" if not event.is_own else "o", color=colour, markersize=9, zorder=5)
        self.mark(mark)
        self.mark(self.axes.text(x + 2, y + 0.12, event.label, fontsize=9, color=colour, zorder=5))

    def legend(self) -> None:
        handles = {}
        if self.story.lock:
            handles["acts as the holder of the lock"] = Patch(color=BELIEF, linewidth=0)
            if any(event.loses_lock for event in self.row_of):
                handles["the same, and the lock is lost"] = Patch(color=ALONE, linewidth=0)
        else:
            handles["at work"] = Patch(color=BELIEF, linewidth=0)
        handles["the distances are not those of time"] = Patch(alpha=0)
        figure = self.axes.figure.get_figure(root=True)
        figure.legend(list(handles.values()), list(handles), loc="outside lower left", ncols=3, fontsize=9)
