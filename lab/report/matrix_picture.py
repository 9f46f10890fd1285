"""Draw the matrix as a picture and as a page, with words in every cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lab.report.chart import GREEN, GREY, ORANGE, RED, STYLE
from lab.report.html import page
from lab.report.matrix import Cell, in_short, never_admitted

COLOURS = {"KEPT": GREEN, "ADMITTED": ORANGE, "BROKEN": RED, "VOID": GREY, "UNSEEN": GREY, "": "#ffffff"}


def draw(cells: Sequence[Cell], folder: Path, own: str = "") -> list[Path]:
    """Write ``index.html``, ``matrix.svg`` and ``matrix.png``. Return their paths, the page first.

    own: the title of a matrix of a user's own locks, for which no verdict is expected.
    """
    with style.context(STYLE):
        figure = _figure(cells)
        pictures = [folder / "matrix.svg", folder / "matrix.png"]
        for path in pictures:
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    path = folder / "index.html"
    path.write_text(page("matrix.html", **_table(cells, folder.parent / "runs", own)), encoding="utf-8")
    return [path, *pictures]


def _table(cells: Sequence[Cell], runs: Path, own: str) -> dict[str, object]:
    columns = list(dict.fromkeys(cell.stage for cell in cells))
    rows: dict[str, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.scenario, []).append(cell)
    drawn = {cell.run for cell in cells if (runs / cell.run / "report.html").exists()}
    gentle = [] if own else never_admitted(cells)
    return {"drawn": drawn, "columns": columns, "rows": rows, "in_short": in_short, "never_admitted": gentle, "own": own}


def _figure(cells: Sequence[Cell]) -> Figure:
    columns = list(dict.fromkeys(cell.stage for cell in cells))
    rows = list(dict.fromkeys(cell.scenario for cell in cells))
    figure = Figure(figsize=(2.6 + 1.0 * len(columns), 1.4 + 0.42 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    for cell in cells:
        x, y = columns.index(cell.stage), rows.index(cell.scenario)
        axes.add_patch(Rectangle((x, y), 0.96, 0.92, facecolor=COLOURS[cell.verdict], alpha=0.85 if cell.verdict else 0))
        axes.text(x + 0.48, y + 0.46, in_short(cell), ha="center", va="center", fontsize=8.5, color="#111111")
    axes.set_xlim(0, len(columns))
    axes.set_ylim(len(rows), 0)
    axes.set_xticks([x + 0.48 for x in range(len(columns))], [name.replace("_", "\n", 1) for name in columns], fontsize=9)
    axes.set_yticks([y + 0.46 for y in range(len(rows))], rows, fontsize=9)
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    kept = sum(cell.verdict == "KEPT" for cell in cells)
    run = sum(bool(cell.verdict) for cell in cells)
    admitted = sum(cell.verdict == "ADMITTED" for cell in cells)
    figure.suptitle(
        f"{kept} of {run} runs kept the tested promise; in {admitted} the stage does not make it, and fails", fontsize=12
    )
    return figure
