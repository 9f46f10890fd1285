"""How many increments each stage lost: a bar for all requests of a run, in the order of the ladder.

A request counts once. Its increment is in the counter, or it was acknowledged and is not there (lost), or the answer was an error
and nothing was written (refused), or the answer leaves that open (unknown). A run that raised the counter more often than it was
asked has a note: its lost increments are a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from app.locks import stages
from lab.judge.judgement import Judgement, Verdict
from lab.language import Language
from lab.report.chart import COLOURS, WIDTH_IN, conditions
from lab.report.run_data import Result
from lab.story import say
from lab.story.say import ENGLISH, text
from lab.text import letters_of, thousands, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = ("counted", "lost", "refused", "unknown")  # of a bar, from its left end
INKS = {"counted": "#00654a", "lost": "#a34700", "refused": COLOURS["refused"], "unknown": COLOURS["unknown"]}  # of the numbers
SOFT = "#565656"
SLIDE_IN = WIDTH_IN * 9 / 16  # the height of a picture that fills a slide
ONE_COLUMN = 14  # rows: more stand in two columns
TALLEST_IN, LEAST_IN = 0.42, 0.195  # the height of a row
MARGIN_IN, TITLE_IN, LINE_IN, NOTE_IN = 0.2, 0.32, 0.24, 0.17  # the margin, and the height of a line of each kind
TITLE_LETTERS, NOTE_LETTERS = 62, 136  # of a line
LETTER = 0.6 / 72  # inches for each point of a letter's size, in DejaVu Sans


class LostBar(NamedTuple):
    """A run in the picture."""

    name: str
    judgement: Judgement

    @property
    def parts(self) -> dict[str, int]:
        """Return how many requests each part of the bar stands for."""
        one = self.judgement
        return dict(zip(PARTS, (one.kept, one.acknowledged - one.kept, one.failed, one.unknown), strict=True))

    @property
    def lost(self) -> int:
        return self.parts["lost"]

    @property
    def shows(self) -> bool:
        """Return whether the run proves anything."""
        return self.judgement.verdict is not Verdict.VOID

    def numbers(self, several: bool, language: Language) -> list[tuple[str, str]]:
        """Return what stands at the end of the bar, each with its colour. several: whether the runs differ in their requests."""
        if not self.shows:
            return [(text("lost", "void", language), SOFT)]
        parts = self.parts
        of = text("lost", "of", language, n=self.judgement.requests) if several else ""
        again = "*" if self.judgement.duplicated else ""
        found = [(f"{thousands(parts['lost'])}{again}{of}", INKS["lost" if parts["lost"] else "counted"])]
        for name in ("refused", "unknown"):
            found += [(text("lost", f"number_{name}", language, shown=thousands(parts[name])), INKS[name])] if parts[name] else []
        return found


def fits(results: Sequence[Result]) -> bool:
    """Return whether there is a run."""
    return bool(results)


def _columns(results: Sequence[Result]) -> int:
    return 1 if len(results) <= ONE_COLUMN else 2


def draw(results: Sequence[Result], language: Language = ENGLISH) -> Figure:
    """Draw in inches, from the top: as tall as a slide, less for a few runs, and more for very many."""
    from matplotlib.figure import Figure

    rows = ordered(results)
    in_column = -(-len(rows) // _columns(results))
    tall = max(min(SLIDE_IN, 1.7 + TALLEST_IN * in_column), 1.6 + LEAST_IN * in_column)
    figure = Figure(figsize=(WIDTH_IN, tall))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDTH_IN), ylim=(tall, 0))
    axes.axis("off")
    said = finding(rows, language)
    figure.set_label(said)
    y = MARGIN_IN
    lines = wrapped(said, TITLE_LETTERS)
    for line in wrapped(said, max(TITLE_LETTERS // 2, letters_of(said) // len(lines) + 8)):  # no last line of one sign
        axes.text(MARGIN_IN, y, line, va="top", fontsize=16, fontweight="bold")
        y += TITLE_IN
    axes.text(MARGIN_IN, y, conditions(results, language), va="top", fontsize=10, color=SOFT)
    _legend(axes, rows, y + LINE_IN, language)
    notes = [line for note in _notes(results, rows, language) for line in wrapped(note, NOTE_LETTERS)]
    foot = tall - 0.12 - NOTE_IN * len(notes)
    for place, line in enumerate(notes):
        axes.text(MARGIN_IN, foot + NOTE_IN * place, line, va="top", fontsize=8.5, color=SOFT)
    _bars(axes, rows, (y + 2 * LINE_IN + 0.12, foot - 0.08), _columns(results), language)
    return figure


def ordered(results: Sequence[Result]) -> list[LostBar]:
    """Return the runs in the order of the ladder; those of one stage as they are given."""
    shelf = {name: place for place, name in enumerate(stages())}
    found = sorted(results, key=lambda one: shelf.get(one.judgement.stage, len(shelf)))
    return [LostBar(one.label, one.judgement) for one in found]


def _legend(axes: Axes, rows: Sequence[LostBar], y: float, language: Language) -> None:
    """Draw the legend of the parts that occur, in one line."""
    x = MARGIN_IN
    for name in PARTS:
        if name in PARTS[:2] or any(row.parts[name] for row in rows):
            words = text("lost", name, language)
            axes.barh(y + 0.09, 0.22, left=x, height=0.13, color=COLOURS[name])
            axes.text(x + 0.29, y + 0.09, words, va="center", fontsize=10.5)
            x += 0.29 + letters_of(words) * 10.5 * LETTER + 0.12


def _bars(axes: Axes, rows: Sequence[LostBar], between: tuple[float, float], columns: int, language: Language) -> None:
    """Draw the rows between two heights, in columns."""
    top, bottom = between
    in_column = -(-len(rows) // columns)
    row_in = min(TALLEST_IN, (bottom - top) / in_column)
    wide = (WIDTH_IN - MARGIN_IN * (columns + 1)) / columns
    several = len({row.judgement.requests for row in rows}) > 1
    numbers = [row.numbers(several, language) for row in rows]
    names = max(letters_of(row.name) for row in rows)
    ends = max(letters_of(" ".join(words for words, _ in one)) for one in numbers)
    size = min(14.0, row_in * 72 * 0.72, 0.66 * wide / ((names + ends) * LETTER))
    left, right = names * size * LETTER + 0.08, ends * size * LETTER + 0.08
    for place, (row, words) in enumerate(zip(rows, numbers, strict=True)):
        column, down = divmod(place, in_column)
        x, y = MARGIN_IN + column * (wide + MARGIN_IN), top + row_in * (down + 0.5)
        axes.text(x, y, row.name, va="center_baseline", fontsize=size)
        at, scale = x + left, (wide - left - right) / max(1, row.judgement.requests)
        axes.barh(y, scale * row.judgement.requests, left=at, height=0.62 * row_in, color="#eeeeea")
        for name, number in row.parts.items():
            if number:
                axes.barh(y, scale * number, left=at, height=0.62 * row_in, color=COLOURS[name], alpha=1 if row.shows else 0.3)
            at += scale * number
        at = x + wide - right + 0.08
        for number, (one, colour) in enumerate(words):
            axes.text(at, y, one, va="center_baseline", fontsize=size, color=colour, fontweight="normal" if number else "bold")
            at += (letters_of(one) + 1.6) * size * LETTER


def finding(rows: Sequence[LostBar], language: Language = ENGLISH) -> str:
    """Return the title: how many stages lost nothing, and which run lost the largest share; without a loss, who refused most."""
    proven = [row for row in rows if row.shows]
    if not proven:
        return text("lost", "proves_nothing", language, len(rows))
    named = {row.judgement.stage for row in proven}
    losers = {row.judgement.stage for row in proven if row.lost}
    refused = any(row.parts["refused"] for row in proven)
    kind = ("some" if losers < named else "all") if losers else "refusals" if refused else "nobody"
    part = "lost" if losers else "refused"
    shares = [row.parts[part] / max(1, row.judgement.requests) for row in proven]
    # runs whose shares differ by less than a hundredth are alike: the first of them is named
    worst = next(row for row, share in zip(proven, shares, strict=True) if share >= max(shares) - 0.01)
    places = {"worst": worst.name, "shown": thousands(worst.parts[part]), "of": thousands(worst.judgement.requests)}
    return text("lost", f"finding_{kind}", language, len(named), sound=len(named) - len(losers), **places)


def _notes(results: Sequence[Result], rows: Sequence[LostBar], language: Language) -> Iterator[str]:
    """Yield the lines below: which stages add more than once, and from which runs the numbers are."""
    for row in rows:
        if row.shows and row.judgement.duplicated:
            again = thousands(row.judgement.duplicated)
            yield text("lost", "again", language, stage=row.name, again=again, least=thousands(row.lost))
    records = [one.record for one in results]
    days, commits = (sorted({one.started_utc[:10] for one in records}), sorted({one.commit for one in records}))
    comma: str = say.words(language)["mark"]["names_comma"]
    span = comma.join(days) if len(days) < 3 else text("lost", "span", language, first=days[0], last=days[-1])
    cores = sorted({one.machine.get("cores", 0) for one in records})
    about = {"days": span, "commits": comma.join(commits), "cores": comma.join(map(str, cores))}
    yield text("lost", "source", language, len(records), **about)
