"""Draw the matrix as a picture: families of scenarios, groups of stages, one word a harm. Its core is drawn for the README."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from app.locks import stages
from lab.report.cell_picture import FONTS, draw_mark, legend, sheet
from lab.report.chart import STYLE
from lab.report.matrix import Cell, lost_otherwise
from lab.report.matrix_layout import CORE_SCENARIOS, CORE_STAGES, SHORT, Layout, in_words, layout, part_of
from lab.report.matrix_marks import Marks, marks
from lab.report.matrix_origin import Origin
from lab.report.matrix_page import write_page
from lab.report.palette import HARMS, HELD, LIGHT, PAPERS, Mark, Paper
from lab.text import counted

CORE = "core"
NARROW, WIDE = 850, 36  # px: the width of the core, the width of a column of the whole
LEFT, NAMES, ROW, FAMILY, GROUP = 12, 158, 21, 25, 6  # px: the margin, the rows' names, a row, a family's title, between groups
SLANTED = 30  # px: what the slanted name of the last column needs at the right
LETTERS = 7.5  # points: 10 px
ENOUGH = 3  # faults that fit a stage, so that its row says something
TITLE = 9.7  # px: a letter of the title


def draw(
    cells: Sequence[Cell], folder: Path, origin: Origin, own: str = "", decided: dict[str, dict[str, str]] | None = None
) -> list[Path]:
    """Write ``index.html``, ``matrix.svg`` and ``matrix.png``, and the core of a whole matrix. Return the paths, the page first.

    own: the title of a matrix of a user's own locks, for which no verdict is expected.
    decided: what the search of all orders decided, in words: by stage, then by claim.
    """
    pictures = draw_whole(cells, folder, origin, fold=not own)
    if not own and has_core(cells):
        pictures += [draw_core(cells, folder, origin, name) for name in PAPERS]
    return [write_page(cells, folder, origin, own, decided or {}), *pictures]


def draw_whole(cells: Sequence[Cell], folder: Path, origin: Origin, fold: bool = True) -> list[Path]:
    """Write ``matrix.svg`` and ``matrix.png``. Return their paths. fold: one column for equal columns."""
    with style.context([STYLE, FONTS]):
        figure = picture(marks(cells), finding(cells), below(cells, origin), LIGHT, fold=fold)
        paths = [folder / "matrix.svg", folder / "matrix.png"]
        for path in paths:
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths


def has_core(cells: Sequence[Cell]) -> bool:
    """Return whether the matrix has all that its core shows; a matrix of a few stages has not."""
    return set(CORE_STAGES) <= {cell.stage for cell in cells} and set(CORE_SCENARIOS) <= {cell.scenario for cell in cells}


def draw_core(cells: Sequence[Cell], folder: Path, origin: Origin, name: str) -> Path:
    """Write the core of the matrix on one paper: its file's name ends with ``name``. Return its path."""
    known, path = part_of(marks(cells), CORE_SCENARIOS, CORE_STAGES), folder / f"{CORE}{name}.svg"
    part, whole = ({scenario for scenario, _ in known}, {cell.scenario for cell in cells})
    words = f"{len(part)} of {len(whole)} scenarios. {below(cells, origin)}"
    with style.context([STYLE, FONTS]):
        figure = picture(known, core_finding(known), words, PAPERS[name], NARROW)
        figure.savefig(path, metadata={"Date": None}, facecolor=PAPERS[name].page)
    return path


def picture(known: Marks, title: str, words: str, paper: Paper, width: int = 0, fold: bool = True) -> Figure:
    """Return the picture of these marks.

    words: the lines below it. width: in px; without it, the width follows from the columns. fold: one column for equal columns.
    """
    plan = layout(known, fold)
    columns, gaps = len(plan.all_columns), GROUP * (len(plan.columns) - 1)
    column = (width - NAMES - LEFT - gaps - SLANTED) / columns if width else WIDE
    across = width or max(NARROW - 200, round(NAMES + LEFT + gaps + WIDE * columns + SLANTED))
    heading = textwrap.wrap(title, round(across / TITLE))
    lines = textwrap.wrap(words, round(across / 5.6))
    top = 30 + 20 * len(heading) + 22 + _slant(plan)
    rows = top + FAMILY * len(plan.rows) + ROW * len(plan.all_rows)
    figure, axes = sheet(across, rows + 62 + 14 * len(lines), paper)
    for number, line in enumerate(heading):
        axes.text(LEFT, 22 + 20 * number, line, fontsize=13, fontweight="bold", color=paper.text, va="center")
    lefts = _heads(axes, plan, column, top, paper)
    _rows(axes, plan, known, lefts, column, top, paper)
    found = set(known.values())
    ends = legend(axes, (LEFT, rows + 22, across - LEFT), [mark for mark in Mark if mark in found], paper, LETTERS + 0.5)
    for number, line in enumerate(lines):
        axes.text(LEFT, ends + 26 + 14 * number, line, fontsize=LETTERS, color=paper.soft, va="center")
    return figure


def _slant(plan: Layout) -> int:
    """Return the height in px of the slanted names of the columns."""
    longest = max((len(line) for column in plan.all_columns for line in _name(column).split("\n")), default=0)
    return round(5.6 * longest) + 14


def _name(column: tuple[str, ...]) -> str:
    """Return the name of a column: of its one stage, or of those that it stands for."""
    if len(column) < 3:
        return " and ".join(column) if len(column) == 1 or len("".join(column)) < 18 else ",\n".join(column)
    return f"{column[0]}\nand {len(column) - 1} like it"


def _heads(axes: Axes, plan: Layout, column: float, top: int, paper: Paper) -> dict[tuple[str, ...], float]:
    """Draw the names of groups and columns. Return the left end of each column."""
    lefts: dict[tuple[str, ...], float] = {}
    x, over = float(LEFT + NAMES), top - _slant(plan)
    for group, columns in plan.columns.items():
        for number, one in enumerate(columns):
            lefts[one] = x + number * column
            place = (lefts[one] + column / 2 - 2, top - 4)
            axes.text(
                *place,
                _name(one),
                fontsize=LETTERS + 0.5,
                color=paper.text,
                rotation=68,
                ha="left",
                va="bottom",
                rotation_mode="anchor",
                linespacing=1.15,
            )
        right = x + len(columns) * column
        axes.plot([x + 1, right - 3], [over - 6] * 2, color=paper.soft, linewidth=1)
        axes.text(
            (x + right) / 2 - 1,
            over - 15,
            _fitting(group, right - x),
            fontsize=LETTERS,
            color=paper.soft,
            ha="center",
            va="center",
        )
        x = right + GROUP
    return lefts


def _fitting(group: str, width: float) -> str:
    """Return the longest name of a group that fits its width."""
    words = SHORT.get(group, (group, group[:3]))
    return next((one for one in words if 6.2 * len(one) <= width), words[-1])


def _rows(
    axes: Axes, plan: Layout, known: Marks, lefts: dict[tuple[str, ...], float], column: float, top: int, paper: Paper
) -> None:
    y = float(top)
    for family, names in plan.rows.items():
        axes.text(LEFT, y + FAMILY - 11, family, fontsize=LETTERS + 0.5, fontweight="bold", color=paper.soft, va="center")
        y += FAMILY
        for name in names:
            axes.text(LEFT + 10, y + ROW / 2, in_words(name), fontsize=LETTERS + 0.5, color=paper.text, va="center")
            for one, left in lefts.items():
                mark = known.get((name, one[0]), Mark.UNTRIED)
                draw_mark(axes, (left, y + 1, column - 2, ROW - 2), mark, paper, LETTERS)
            y += ROW


def below(cells: Sequence[Cell], origin: Origin) -> str:
    """Return how many runs a cell stands for, and where the cells are from."""
    tries = sorted({cell.tries for cell in cells if cell.verdict}) or [0]
    number = counted(tries[0], "run") if len(tries) == 1 else f"{tries[0]} to {tries[-1]} runs"
    flaky = sum(cell.flaky for cell in cells)
    alike = (
        ""
        if tries[-1] < 2
        else ", all with the same verdict"
        if not flaky
        else f"; in {counted(flaky, 'cell')} the verdicts of these runs differ"
    )
    return f"A cell is {number}{alike}. {origin.sentence}"


def core_finding(known: Marks) -> str:
    """Return the title of the core: how many of its stages some fault harms. A stage that hardly any fault fits is left out."""
    tried = Counter(stage for (_, stage), mark in known.items() if mark in (*HELD, *HARMS))
    tested = {stage for stage, faults in tried.items() if faults >= ENOUGH}
    harmed = tested & {stage for (_, stage), mark in known.items() if mark in HARMS}
    if harmed == tested:
        order = [stage for stage in stages() if stage in tested]
        span = f" from {order[0]} to {order[-1]}" if order else ""
        return f"No lock survives everything: all {len(tested)}{span} are harmed"
    return f"{len(harmed)} of {len(tested)} are harmed by some of these faults; not harmed: {', '.join(sorted(tested - harmed))}"


def finding(cells: Sequence[Cell]) -> str:
    """Return what the matrix shows, as its title: kept and unharmed, kept next to other losses, not promised, and the rest."""
    counts = Counter(cell.verdict for cell in cells if cell.verdict)
    otherwise = sum(map(lost_otherwise, cells))
    others = f", {otherwise} of them next to losses by another cause" if otherwise else ""
    words = [f"{counts['KEPT']} of {counts.total()} cells kept the tested promise{others}"]
    words += [f"in {counts['ADMITTED']} the stage does not make it, and fails"] if counts["ADMITTED"] else []
    words += [f"{counts['BROKEN']} broke it"] if counts["BROKEN"] else []
    nothing = counts["UNSEEN"] + counts["VOID"]
    words += [f"{nothing} proved nothing"] if nothing else []
    return "; ".join(words)
