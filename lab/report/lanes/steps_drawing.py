"""The picture of a loss in steps: the two holders, the lock and the counter as lanes, a row with a sentence for each step."""

from __future__ import annotations

from collections.abc import Iterator

from lab.language import Language
from lab.report.lanes.lifelines import Lane, Lifelines, Mark, Row, Span
from lab.story import say, say_run
from lab.story.happening import Kind
from lab.story.say import ENGLISH
from lab.story.steps import Event, Line, Step, StepsOfLoss
from lab.text import wrapped

ALL_LANES = 480  # their width
SENTENCE_LETTERS = 42  # of a line


def draw(found: StepsOfLoss, conditions: str, language: Language = ENGLISH) -> str:
    """Return the picture as SVG. conditions: of the run, in words."""

    def says(name: str) -> str:
        return say.text("steps", name, language)

    without = (not found.locked and found.has_counter and Line.LOCK, not found.has_counter and Line.COUNTER)
    lines = [line for line in Line if line not in without]
    lock = says("local_locks" if found.local else "lock")
    heads = {Line.A: ("A", *found.a), Line.LOCK: (lock,), Line.B: ("B", *found.b), Line.COUNTER: (says("counter"),)}
    shown = [("entitled", "holds" if found.locked else "works")] + ([] if found.has_counter else [("lock", "taken")])
    if found.locked and any(event.loses_lock for step in found.steps for event in step):
        shown.append(("late", "lost"))
    clocks = say_run.clocks(found.steps, language)
    return Lifelines(
        title=say_run.title_of_steps(found, language),
        about=conditions,
        lanes=tuple(Lane(heads[line], ALL_LANES // len(lines)) for line in lines),
        rows=tuple(_row(step, clock, lines, language) for step, clock in zip(found.steps, clocks, strict=True)),
        spans=tuple(_acting(found, lines) if found.has_counter else _taken(found, lines)),
        legend=(*((look, says(name)) for look, name in shown), ("", says("distances"))),
    ).draw()


def _row(step: Step, clock: str, lines: list[Line], language: Language) -> Row:
    is_bad = any(event.is_harm for event in step)
    sentence = [("", line) for line in wrapped(say_run.of_a_step(step, language), SENTENCE_LETTERS)]
    marks = tuple((_mark(event, say_run.at_mark(event, language), lines),) for event in step)
    return Row((("small bad" if is_bad else "small soft bold", clock), *sentence), marks, is_bad)


def _mark(event: Event, words: str, lines: list[Line]) -> Mark:
    value = str(event.what.value) if event.target is Line.COUNTER else ""
    is_bad = event.is_harm or not (event.is_own or value)
    source, target = (lines.index(line if line in lines else Line.A) for line in (event.source, event.target))
    if source == target:  # without an actor: a fault, or the write of another request
        return Mark(source, event.actor or ("" if value else "×"), words=words, value=value, is_bad=is_bad)
    is_back = event.actor is event.target
    holder, other = (target, source) if is_back else (source, target)
    return Mark(holder, lines[holder], (other,), is_back, words, value, is_bad)


def _acting(found: StepsOfLoss, lines: list[Line]) -> Iterator[Span]:
    """Yield how long A and B act as holders, and from when on A does so without the lock."""
    events = list(enumerate((event for step in found.steps for event in step), 1))
    lost = next((moment for moment, event in events if event.loses_lock), len(events))
    for lane in (Line.A, Line.B):
        own = [moment for moment, event in events if event.actor is lane]
        alone = min(lost, own[-1]) if lane is Line.A else own[-1]
        yield Span(lines.index(lane), own[0], alone, "entitled")
        yield Span(lines.index(lane), alone, own[-1], "late")


def _taken(found: StepsOfLoss, lines: list[Line]) -> Iterator[Span]:
    """Yield until when A acts as the holder, and until when its key keeps the lock taken."""
    at = {event.what.kind: moment for moment, event in enumerate((event for step in found.steps for event in step), 1)}
    got = at.get(Kind.GRANTED, 0)
    yield Span(lines.index(Line.A), got, at[Kind.FAULT], "entitled")
    yield Span(lines.index(Line.LOCK), got, at.get(Kind.LEASE_OVER, at.get(Kind.NEXT_GOT, -1)), "lock")
