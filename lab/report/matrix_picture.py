"""Draw the core of the matrix as a picture for the README: families of scenarios, groups of stages, one word a harm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from app.locks import stages
from lab.language import Language
from lab.report.chart import HARMS, HELD, NAMES, Mark
from lab.report.html import page, path_in
from lab.report.lanes.pen import width
from lab.report.matrix import Cell, Origin
from lab.report.matrix_layout import CORE_SCENARIOS, CORE_STAGES, Marks, in_words, layout, marks
from lab.story.say import ENGLISH, text, words
from lab.text import wrapped


def write(template: str, path: Path, language: Language, **values: Any) -> Path:
    """Write a picture from a template. Return its path."""
    say = partial(text, language=language)
    about = {"language": language, "names": NAMES, "harms": HARMS, "width": WIDTH}
    path.write_text(page(template, say=say, text_width=width, **about, **values), encoding="utf-8")
    return path


WIDTH = 850  # px, the width at which GitHub shows a picture
TITLE, SOFT = 16.5, 9.5  # px: the sizes of letters: of the title, and of the lines below
NARROW_LETTER = 0.59  # the width of a Latin letter, in letters of the font's size
ENOUGH = 3  # faults that fit a stage: with fewer, the stage is not counted in the title


def draw_core(cells: Sequence[Cell], folder: Path, origin: Origin, language: Language = ENGLISH) -> Path:
    """Write the core of the matrix, ``core.svg``. Return its path."""
    known = marks(cell for cell in cells if cell.scenario in CORE_SCENARIOS and cell.stage in CORE_STAGES)
    plan, title = layout(known), core_finding(known, language)
    found = {known.get((scenario, stage), Mark.UNTRIED) for scenario in plan.all_rows for stage in plan.all_columns}
    below = (title, TITLE), (conditions(cells, len(plan.all_rows), origin, language), SOFT)
    heading, lines = (wrapped(one, int(WIDTH / (NARROW_LETTER * size))) for one, size in below)
    return write(
        "matrix.svg.j2",
        path_in(folder / "core.svg", language),
        language,
        title=title,
        heading=heading,
        lines=lines,
        plan=plan,
        heads=[(group, stage) for group, columns in plan.columns.items() for stage in columns],
        known=known,
        shown=sorted(found),
        legend=[mark for mark in Mark if mark in found and mark not in HARMS],  # a cell of a harm has its word
        untried=Mark.UNTRIED,
        words=partial(in_words, language=language),
    )


def conditions(cells: Sequence[Cell], rows: int, origin: Origin, language: Language = ENGLISH) -> str:
    """Return the words below the picture: the number of scenarios, the number of runs for each cell, and the cells' origin."""
    tries = sorted({cell.tries for cell in cells if cell.verdict}) or [0]
    runs = text("matrix", "runs" if len(tries) == 1 else "from_runs", language, tries[-1], least=tries[0])
    alike = "" if tries[-1] < 2 or any(cell.flaky for cell in cells) else text("matrix", "agree", language)
    about = {"runs": runs, "alike": alike, "origin": origin.in_short(language)}
    return text("matrix", "core", language, rows, whole=len({cell.scenario for cell in cells}), **about)


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
