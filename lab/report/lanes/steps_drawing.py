"""The picture of a loss in steps: the two holders, the lock and the counter as lanes, a row with a sentence for each step."""

from __future__ import annotations

from collections.abc import Iterator

from lab.language import Language
from lab.report.lanes.lifelines import Lane, Lifelines, Mark, Row, Span
from lab.story import say, say_run
from lab.story.happening import Happening, Kind
from lab.story.say import ENGLISH
from lab.story.steps import HARM, LOST_LOCK, Line, Step, StepsOfLoss, holder, lines_of
from lab.text import wrapped

ALL_LANES = 480  # their width
SENTENCE_LETTERS = 42  # the most letters in a line


def draw(found: StepsOfLoss, conditions: str, language: Language = ENGLISH) -> str:
    """Return the picture as SVG. conditions: of the run, in words."""

    def says(name: str) -> str:
        return say.text("steps", name, language, found.voters or 1)

    lines = found.lines
    lock = says("local_locks" if found.local else "voters" if found.voters else "lock")
    heads = {Line.A: ("A", *found.a), Line.LOCK: (lock,), Line.THIRD: found.third or (), Line.B: ("B", *found.b)}
    heads[Line.COUNTER] = (says("counter"),)
    shown = [("entitled", "holds" if found.locked else "works")] + ([] if found.has_counter else [("lock", "taken")])
    if found.locked and any(one.kind in LOST_LOCK for step in found.steps for one in step):
        shown.append(("late", "lost"))
    shown += [("", "lamps")] * bool(found.voters)
    clocks = say_run.clocks(found.steps, language)
    return Lifelines(
        title=say_run.title_of_steps(found, language),
        about=conditions,
        lanes=tuple(Lane(heads[line], ALL_LANES // len(lines)) for line in lines),
        rows=tuple(_row(*one, lines, language) for one in zip(found.steps, clocks, found.lamps(), strict=True)),
        spans=tuple(_acting(found, lines) if found.has_counter else _taken(found, lines)),
        legend=(*((look, says(name)) for look, name in shown), ("", says("distances"))),
    ).draw()


def _row(step: Step, clock: str, lamps: tuple[str, ...], lines: list[Line], language: Language) -> Row:
    is_bad = any(one.kind in HARM for one in step)
    sentence = [("", line) for line in wrapped(say_run.of_a_step(step, language), SENTENCE_LETTERS)]
    marks = tuple((_mark(one, say_run.at_mark(one, language), lines, lamps),) for one in step)
    return Row((("small bad" if is_bad else "small soft bold", clock), *sentence), marks, is_bad)


def _mark(happening: Happening, words: str, lines: list[Line], lamps: tuple[str, ...]) -> Mark:
    own, (source, target) = holder(happening), lines_of(happening)
    value = str(happening.value) if target is Line.COUNTER else ""
    is_bad = happening.kind in HARM or not (own or value)
    here, there = (lines.index(line if line in lines else Line.A) for line in (source, target))
    shown = lamps if happening.servers else ()
    if here == there:  # it happens at one lifeline; if no holder does it, it gets a ×, unless it shows a value or votes
        return Mark(here, own or ("" if value or shown else "×"), words=words, value=value, is_bad=is_bad, lamps=shown)
    is_back = source in (Line.LOCK, Line.COUNTER)
    actor, other = (there, here) if is_back else (here, there)
    return Mark(actor, own or "×", (other,), is_back, words, value, is_bad, shown)


def _acting(found: StepsOfLoss, lines: list[Line]) -> Iterator[Span]:
    """Yield how long A and B act as holders, and from when on A does so without the lock."""
    happened = list(enumerate((one for step in found.steps for one in step), 1))
    lost = next((moment for moment, one in happened if one.kind in LOST_LOCK), len(happened))
    for lane in (Line.A, Line.B):
        own = [moment for moment, one in happened if holder(one) is lane]
        alone = min(lost, own[-1]) if lane is Line.A else own[-1]
        yield Span(lines.index(lane), own[0], alone, "entitled")
        yield Span(lines.index(lane), alone, own[-1], "late")
    third = [moment for moment, one in happened if Line.THIRD in lines_of(one)]
    if third:
        yield Span(lines.index(Line.THIRD), third[0], third[-1], "late")


def _taken(found: StepsOfLoss, lines: list[Line]) -> Iterator[Span]:
    """Yield until when A acts as the holder, and until when its key keeps the lock taken."""
    at = {one.kind: moment for moment, one in enumerate((one for step in found.steps for one in step), 1)}
    got = at.get(Kind.GRANTED, 0)
    yield Span(lines.index(Line.A), got, at[Kind.FAULT], "entitled")
    yield Span(lines.index(Line.LOCK), got, at.get(Kind.LEASE_OVER, at.get(Kind.NEXT_GOT, -1)), "lock")
