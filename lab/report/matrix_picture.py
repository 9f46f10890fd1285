"""Draw the matrix as a picture and as a page, with words in every cell."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lab.report.account import without_gross
from lab.report.chart import GREEN, GREY, ORANGE, RED, STYLE
from lab.report.html import page
from lab.report.matrix import Cell, in_full, in_short, lost_otherwise, never_admitted, with_rounds
from lab.report.matrix_origin import Origin
from lab.text import counted

COLOURS = {"KEPT": GREEN, "ADMITTED": ORANGE, "BROKEN": RED, "VOID": GREY, "UNSEEN": GREY, "": "#ffffff"}
OTHERWISE, HATCH = "#b9dcae", "////"  # a promise that was kept next to losses by another cause: paler, and hatched
LETTERS_PER_INCH = 120  # of a text of one point
SIGN = "\u26a0"


def draw(cells: Sequence[Cell], folder: Path, origin: Origin, own: str = "") -> list[Path]:
    """Write ``index.html``, ``matrix.svg`` and ``matrix.png``. Return their paths, the page first.

    own: the title of a matrix of a user's own locks, for which no verdict is expected.
    """
    with style.context(STYLE):
        figure = _figure(cells, origin)
        pictures = [folder / "matrix.svg", folder / "matrix.png"]
        for path in pictures:
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    path = folder / "index.html"
    path.write_text(page("matrix.html", **_table(cells, folder.parent / "runs", own), origin=origin), encoding="utf-8")
    return [path, *pictures]


def _table(cells: Sequence[Cell], runs: Path, own: str) -> dict[str, object]:
    columns = list(dict.fromkeys(cell.stage for cell in cells))
    rows: dict[str, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.scenario, []).append(cell)
    drawn = {cell.run for cell in cells if (runs / cell.run / "report.html").exists()}
    gentle = [] if own else never_admitted(cells)
    return {
        "drawn": drawn,
        "columns": columns,
        "rows": rows,
        "words": with_rounds,
        "in_full": in_full,
        "never_admitted": gentle,
        "own": own,
        "lost_otherwise": lost_otherwise,
        "without_gross": without_gross,
    }


def _figure(cells: Sequence[Cell], origin: Origin) -> Figure:
    columns = list(dict.fromkeys(cell.stage for cell in cells))
    rows = list(dict.fromkeys(cell.scenario for cell in cells))
    figure = Figure(figsize=(2.6 + 1.0 * len(columns), 1.4 + 0.42 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    for cell in cells:
        x, y = columns.index(cell.stage), rows.index(cell.scenario)
        axes.add_patch(Rectangle((x, y), 0.96, 0.92, **_fill(cell)))
        axes.text(x + 0.48, y + 0.46, _words(cell), ha="center", va="center", color="#111111", **_letters(cell))
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.set_xticks([x + 0.48 for x in range(len(columns))], [name.replace("_", "\n", 1) for name in columns], fontsize=9)
    axes.set_yticks([y + 0.46 for y in range(len(rows))], rows, fontsize=9)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.suptitle(_wrapped(finding(cells), figure, 13), fontsize=13, fontweight="bold")
    figure.supxlabel(_wrapped(f"{_repeats(cells)} {origin.sentence}", figure, 9), fontsize=9)
    return figure


def _wrapped(text: str, figure: Figure, points: int) -> str:
    """Return a text of this size in lines that are not wider than the figure."""
    return textwrap.fill(text, round(figure.get_figwidth() * LETTERS_PER_INCH / points))


def _fill(cell: Cell) -> dict[str, Any]:
    """Return how a cell's rectangle is filled. Kept next to other losses has a tint and a hatch of its own."""
    if lost_otherwise(cell):
        return {"facecolor": OTHERWISE, "hatch": HATCH, "edgecolor": ORANGE, "linewidth": 0}
    return {"facecolor": COLOURS[cell.verdict], "alpha": 0.85 if cell.verdict else 0}


def _letters(cell: Cell) -> dict[str, Any]:
    """Return the form of a cell's text. Two lines over a hatch are smaller, on a ground of the tint."""
    if lost_otherwise(cell):
        return {"fontsize": 7.5, "linespacing": 1, "bbox": {"facecolor": OTHERWISE, "linewidth": 0, "pad": 0.6}}
    return {"fontsize": 8.5}


def _words(cell: Cell) -> str:
    words = in_short(cell).replace(", ", f" {SIGN}\n") if lost_otherwise(cell) else in_short(cell)
    return f"{words}\n{cell.seen} of {cell.tries}" if cell.flaky else words


def _repeats(cells: Sequence[Cell]) -> str:
    """Return how many runs a cell stands for, as a sentence."""
    tries = sorted({cell.tries for cell in cells if cell.verdict}) or [0]
    number = counted(tries[0], "run") if len(tries) == 1 else f"{tries[0]} to {tries[-1]} runs"
    alike = "" if tries[-1] < 2 else ", all with the same verdict unless it has a number"
    return f"A cell is {number}{alike}."


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
