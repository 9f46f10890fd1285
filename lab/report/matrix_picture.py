"""Draw the core of the matrix as a picture for the README: families of scenarios, groups of stages, one word a harm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from app.locks import stages
from lab.language import Language, quoted
from lab.report.chart import HARMS, HELD, NAMES, PAPERS, SIGNS, Mark, Paper
from lab.report.html import page
from lab.report.matrix import Cell, Origin
from lab.report.matrix_layout import CORE_SCENARIOS, CORE_STAGES, SHORT, Layout, Marks, in_words, layout, marks, part_of
from lab.report.matrix_page import NOTHING, Decided, write_page
from lab.story.say import ENGLISH, text, words
from lab.text import letters_of, wrapped

FONTS = {  # a browser without the first takes the next
    Language.ENGLISH: "'DejaVu Sans', Verdana, Arial, sans-serif",
    # of macOS, Windows, and Linux; letters and figures stay those of the English picture
    Language.CHINESE: "'DejaVu Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'Source Han Sans SC', "
    "'WenQuanYi Micro Hei', sans-serif",
}


class LegendMark(NamedTuple):
    """A mark in the legend: its left end, and the middle of its line."""

    mark: Mark
    x: float
    y: float


def legend(
    marks: Iterable[Mark], place: tuple[float, float, float], size: float, language: Language = ENGLISH
) -> list[LegendMark]:
    """Return the legend of these marks, in lines.

    place: the left end, the middle of the first line, the right end. size: of a letter.
    """
    left, y, right = place
    x, found, shown = left, [], set(marks)
    for mark in Mark:
        if mark not in shown:
            continue
        needs = 34 + size * letters(text("cell_mark", NAMES[mark], language))
        if x + needs > right:
            x, y = left, y + 24
        found.append(LegendMark(mark, x, y))
        x += needs + 14
    return found


def letters(words: str) -> float:
    """Return the width of words in letters of the font's size: a Chinese sign is as wide as high."""
    wide = letters_of(words) - len(words)
    return wide + NARROW_LETTER * (len(words) - wide)


def write(template: str, path: Path, paper: Paper, language: Language, **values: Any) -> Path:
    """Write a picture from a template. Return its path."""
    say = partial(text, language=language)
    about = {"language": language, "fonts": FONTS[language], "names": NAMES, "signs": SIGNS, "harms": HARMS}
    path.write_text(page(template, paper=paper, say=say, **about, **values), encoding="utf-8")
    return path


CORES = {Language.ENGLISH: "core", Language.CHINESE: "core-zh"}
WIDTH = 850  # px
LEFT, NAMED, ROW, FAMILY, GROUP = 12, 158, 21, 25, 6  # px: the margin, the rows' names, a row, a family's title, between groups
SLANTED = 30  # px: what the slanted name of the last column needs at the right
TITLE, LEGEND, SOFT = 16.5, 10.7, 9.5  # px: the sizes of letters: of the title, the legend, and the lines below
NARROW_LETTER = 0.59  # the width of a Latin letter, in letters of the font's size
ENOUGH = 3  # faults that fit a stage, so that its row says something


class Group(NamedTuple):
    """The head of some columns."""

    left: float
    right: float
    words: str


class Column(NamedTuple):
    """A column: stages with the same marks, and the lines of its name."""

    left: float
    stages: tuple[str, ...]
    lines: list[str]


class MatrixRow(NamedTuple):
    """A row of cells. family: the title above it; empty where it is that of the row before."""

    y: int
    scenario: str
    family: str


def draw(cells: Sequence[Cell], folder: Path, origin: Origin, decided: Decided = NOTHING) -> list[Path]:
    """Write both pages, and the core of a whole matrix as a picture. Return the paths, the pages first.

    decided: what the search of all orders decided, in words.
    """
    pictures = (draw_core(cells, folder, origin, name) for name in PAPERS if has_core(cells))
    return [*write_page(cells, folder, origin, decided), *pictures]


def has_core(cells: Sequence[Cell]) -> bool:
    """Return whether the matrix has all that its core shows; a matrix of a few stages has not."""
    return set(CORE_STAGES) <= {cell.stage for cell in cells} and set(CORE_SCENARIOS) <= {cell.scenario for cell in cells}


def draw_core(cells: Sequence[Cell], folder: Path, origin: Origin, name: str, language: Language = ENGLISH) -> Path:
    """Write the core of the matrix on one paper: its file's name ends with ``name``. Return its path."""
    known, path = part_of(marks(cells), CORE_SCENARIOS, CORE_STAGES), folder / f"{CORES[language]}{name}.svg"
    part, whole = ({scenario for scenario, _ in known}, {cell.scenario for cell in cells})
    about = text("matrix", "core", language, len(part), whole=len(whole), below=below(cells, origin, language))
    return write_picture(path, known, core_finding(known, language), about, PAPERS[name], language)


def write_picture(path: Path, known: Marks, title: str, words: str, paper: Paper, language: Language = ENGLISH) -> Path:
    """Write the picture of these marks. Return its path. words: the lines below it."""
    plan = layout(known)
    gaps = GROUP * (len(plan.columns) - 1)
    column = (WIDTH - NAMED - LEFT - gaps - SLANTED) / len(plan.all_columns)
    groups, columns = _heads(plan, column, language)
    slant = round(5.6 * max((len(line) for one in columns for line in one.lines), default=0)) + 14
    heading, lines = (wrapped(one, int(WIDTH / (NARROW_LETTER * size))) for one, size in ((title, TITLE), (words, SOFT)))
    top = 30 + 20 * len(heading) + 22 + slant
    rows, end = _rows(plan, top)
    found = {known.get((row.scenario, one.stages[0]), Mark.UNTRIED) for row in rows for one in columns}
    # a cell of a harm has its word
    keys = legend(found - {*HARMS}, (LEFT, end + 22, WIDTH - LEFT), LEGEND, language)
    notes = (keys[-1].y if keys else end) + 26
    return write(
        "matrix.svg.j2",
        path,
        paper,
        language,
        title=title,
        heading=heading,
        lines=lines,
        width=WIDTH,
        height=notes + 14 * (len(lines) + 1),
        left=LEFT,
        top=top,
        over=top - slant,
        notes=notes,
        column=column,
        row=ROW,
        groups=groups,
        columns=columns,
        rows=rows,
        known=known,
        shown=sorted(found),
        untried=Mark.UNTRIED,
        words=partial(in_words, language=language),
        legend=keys,
        legend_size=LEGEND,
    )


def _heads(plan: Layout, width: float, language: Language) -> tuple[list[Group], list[Column]]:
    """Return the heads of groups and columns. width: of a column."""
    groups, columns, left = [], [], float(LEFT + NAMED)
    for name, members in plan.columns.items():
        columns += [Column(left + number * width, stages, _lines(stages, language)) for number, stages in enumerate(members)]
        right = left + len(members) * width
        groups.append(Group(left, right, _fitting(name, right - left, language)))
        left = right + GROUP
    return groups, columns


def _rows(plan: Layout, top: int) -> tuple[list[MatrixRow], int]:
    """Return the rows, and where they end. The first row of a family has its title above it."""
    rows, y = [], top
    for family, names in plan.rows.items():
        y += FAMILY
        rows += [MatrixRow(y + number * ROW, name, "" if number else family) for number, name in enumerate(names)]
        y += ROW * len(names)
    return rows, y


def _lines(column: tuple[str, ...], language: Language) -> list[str]:
    """Return the name of a column: of its one stage, or of those that it stands for."""
    if len(column) > 2:
        return [column[0], text("matrix", "alike", language, len(column) - 1)]
    whole = words(language)["mark"]["names_and"].join(column)
    return [whole] if len(column) == 1 or len("".join(column)) < 18 else [f"{column[0]},", column[1]]


def _fitting(group: str, width: float, language: Language) -> str:
    """Return the longest name of a group that fits its width."""
    names = [quoted("part", one, language) for one in SHORT.get(group, (group, group[:3]))]
    return next((one for one in names if 10.5 * letters(one) <= width), names[-1])


def below(cells: Sequence[Cell], origin: Origin, language: Language = ENGLISH) -> str:
    """Return how many runs a cell stands for, and where the cells are from."""
    tries = sorted({cell.tries for cell in cells if cell.verdict}) or [0]
    number = text("matrix", "runs" if len(tries) == 1 else "from_runs", language, tries[-1], least=tries[0])
    flaky = sum(cell.flaky for cell in cells)
    alike = "" if tries[-1] < 2 else text("matrix", "differ" if flaky else "agree", language, flaky or 1)
    return text("matrix", "below", language, runs=number, alike=alike, origin=origin.month(language))


def core_finding(known: Marks, language: Language = ENGLISH) -> str:
    """Return the title of the core: how many of its stages some fault harms. A stage that hardly any fault fits is left out."""
    tried = Counter(stage for (_, stage), mark in known.items() if mark in (*HELD, *HARMS))
    tested = {stage for stage, faults in tried.items() if faults >= ENOUGH}
    harmed = tested & {stage for (_, stage), mark in known.items() if mark in HARMS}
    if harmed == tested:
        order = [stage for stage in stages() if stage in tested]
        span = text("matrix", "span", language, first=order[0], last=order[-1]) if order else ""
        return text("matrix", "all_harmed", language, len(tested), span=span)
    unharmed = words(language)["mark"]["names_comma"].join(sorted(tested - harmed))
    return text("matrix", "some_harmed", language, len(harmed), all=len(tested), unharmed=unharmed)
