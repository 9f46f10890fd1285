"""Draw how many increments each stage lost: a bar for all requests of a run, in the order of the ladder.

A request counts once. Its increment is in the counter, or it was acknowledged and is not in the counter (lost), or the answer was
an error and nothing was written (refused), or the answer leaves that open (unknown). If a run raised the counter more often than
there were requests, a note says so: the lost increments are then a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from app.locks import stages
from lab.judge.judgement import Judgement, Verdict
from lab.language import Language
from lab.report.chart import BAD, COLOURS, GOOD, SOFT, conditions, headed
from lab.report.run_data import Result
from lab.story import say
from lab.story.say import ENGLISH, text
from lab.text import thousands, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARTS = ("counted", "lost", "refused", "unknown")  # the parts of a bar, from its left end
ONE_COLUMN = 14  # rows: if there are more, they are drawn in two columns
ROW_IN, SLIM_ROW_IN, LEGEND_IN, NOTE_IN = 0.36, 0.2, 0.4, 0.17  # heights: of a row, of one of two columns, of a line below
NOTE_LETTERS = 136  # the most letters in a line


class LostBar(NamedTuple):
    """A run in the picture."""

    name: str
    judgement: Judgement

    @property
    def parts(self) -> dict[str, int]:
        """Return the number of requests in each part of the bar."""
        run = self.judgement
        return dict(zip(PARTS, (run.kept, run.acknowledged - run.kept, run.failed, run.unknown), strict=True))

    @property
    def lost(self) -> int:
        return self.parts["lost"]

    @property
    def shows(self) -> bool:
        """Return whether the run proves anything."""
        return self.judgement.verdict is not Verdict.VOID

    def number(self, several: bool, language: Language) -> str:
        """Return the text at the end of the bar. several: whether the runs differ in their numbers of requests."""
        if not self.shows:
            return text("lost", "void", language)
        total = text("lost", "of", language, n=self.judgement.requests) if several else ""
        texts = [f"{thousands(self.lost)}{'*' if self.judgement.duplicated else ''}{total}"]
        parts = [(name, self.parts[name]) for name in ("refused", "unknown") if self.parts[name]]
        return " ".join(texts + [text("lost", f"number_{name}", language, shown=thousands(number)) for name, number in parts])


def draw(results: Sequence[Result], language: Language = ENGLISH) -> Figure:
    """Draw a row for each run, in two columns if they are many."""
    rows = ordered(results, language)
    columns = 1 if len(rows) <= ONE_COLUMN else 2
    in_column = -(-len(rows) // columns)
    notes = [line for note in _notes(results, rows, language) for line in wrapped(note, NOTE_LETTERS)]
    row_in = ROW_IN if columns == 1 else SLIM_ROW_IN
    height_in = LEGEND_IN + in_column * row_in + NOTE_IN * (1 + len(notes))
    figure = headed(finding(rows, language), conditions(results, language), height_in)
    several = len({row.judgement.requests for row in rows}) > 1
    words = {name: text("lost", name, language) for name in PARTS if name in PARTS[:2] or any(row.parts[name] for row in rows)}
    for number, axes in enumerate(figure.subplots(1, columns, squeeze=False)[0]):
        _bars(axes, rows[number * in_column :][:in_column], words, several, language)
        axes.set_ylim(in_column - 0.4, -0.6 - LEGEND_IN / row_in)
    legend = figure.axes[0].legend(loc="upper left", borderpad=0, borderaxespad=0, ncols=len(words))
    legend.set_in_layout(False)  # it may reach over both columns
    figure.supxlabel("\n".join(notes), x=0.012, ha="left", fontsize=8.5, color=SOFT)
    return figure


def _bars(axes: Axes, rows: Sequence[LostBar], parts: Mapping[str, str], several: bool, language: Language) -> None:
    """Draw the rows of a column: each bar is all requests of its run. parts: the parts that occur, with their words."""
    places, ends = range(len(rows)), [0.0] * len(rows)
    whole = axes.barh(places, 1, height=0.64, color="#eeeeea")
    for name, words in parts.items():
        lengths = [row.parts[name] / max(1, row.judgement.requests) for row in rows]
        bars = axes.barh(places, lengths, left=ends, height=0.64, color=COLOURS[name], label=words)
        for bar, row in zip(bars, rows, strict=True):
            bar.set_alpha(1 if row.shows else 0.3)
        ends = [end + length for end, length in zip(ends, lengths, strict=True)]
    numbers = axes.bar_label(whole, [row.number(several, language) for row in rows], padding=6, fontweight="bold")
    for number, row in zip(numbers, rows, strict=True):
        number.set_color(BAD if row.lost and row.shows else GOOD if row.shows else SOFT)
    axes.set_yticks(places, [row.name for row in rows])
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.grid(visible=False)
    axes.patch.set_visible(False)


def ordered(results: Sequence[Result], language: Language = ENGLISH) -> list[LostBar]:
    """Return the runs in the order of the ladder. Runs of the same stage keep their order."""
    shelf = {name: place for place, name in enumerate(stages())}
    in_order = sorted(results, key=lambda result: shelf.get(result.judgement.stage, len(shelf)))
    return [LostBar(result.label(language), result.judgement) for result in in_order]


def finding(rows: Sequence[LostBar], language: Language = ENGLISH) -> str:
    """Return the title: how many stages lost nothing, and the run with the largest lost share; without a loss, refused share."""
    proven = [row for row in rows if row.shows]
    if not proven:
        return text("lost", "proves_nothing", language, len(rows))
    names = {row.judgement.stage for row in proven}
    losers = {row.judgement.stage for row in proven if row.lost}
    refused = any(row.parts["refused"] for row in proven)
    kind = ("some" if losers < names else "all") if losers else "refusals" if refused else "nobody"
    part = "lost" if losers else "refused"
    shares = [row.parts[part] / max(1, row.judgement.requests) for row in proven]
    # runs whose shares differ by less than a hundredth are alike: the first of them is named
    worst = next(row for row, share in zip(proven, shares, strict=True) if share >= max(shares) - 0.01)
    places = {"worst": worst.name, "shown": thousands(worst.parts[part]), "of": thousands(worst.judgement.requests)}
    return text("lost", f"finding_{kind}", language, len(names), sound=len(names) - len(losers), **places)


def _notes(results: Sequence[Result], rows: Sequence[LostBar], language: Language) -> Iterator[str]:
    """Yield the lines below the bars: the stages that add more than once, and the days and commits of the runs."""
    for row in rows:
        if row.shows and row.judgement.duplicated:
            again = thousands(row.judgement.duplicated)
            yield text("lost", "again", language, stage=row.name, again=again, least=thousands(row.lost))
    records = [result.record for result in results]
    days, commits = (sorted({record.started_utc[:10] for record in records}), sorted({record.commit for record in records}))
    comma: str = say.words(language)["mark"]["names_comma"]
    span = comma.join(days) if len(days) < 3 else text("lost", "span", language, first=days[0], last=days[-1])
    cores = sorted({record.machine.get("cores", 0) for record in records})
    places = {"days": span, "commits": comma.join(commits), "cores": comma.join(map(str, cores))}
    yield text("lost", "source", language, len(records), **places)
