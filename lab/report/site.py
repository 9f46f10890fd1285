"""The site of runs, ``reports/index.html``: the matrix, the ladder, and all runs, to be filtered and laid over each other.

Static files: a page with a row of figures for each run, and each run's curves, which it loads when they are asked for.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from app.locks import stages
from lab.evidence.run_folder import replace
from lab.paths import REPORTS
from lab.report.chart import FEW, LINES
from lab.report.html import page
from lab.report.matrix import Cell, in_short
from lab.report.run_index import Row, rows
from lab.report.run_labels import labels

INDEX = "index.html"
REFERENCE = "reference"
KINDS = ("ladder", "matrix", "comparison", "sweep")  # what else is written into reports, each into a folder of its own
NEWEST = 20  # runs listed for a browser that runs no scripts


class Rung(msgspec.Struct):
    """What the ladder's table shows of a run: the facts of ``verdict.json`` that it needs."""

    run: str
    stage: str
    scenario: str
    verdict: str
    acknowledged: int
    lost: int
    duplicated: int
    failed: int
    unknown: int
    throughput_per_s: float
    wait_ms: dict[str, float]
    commands_per_increment: float


class Square(msgspec.Struct):
    """A cell of the matrix. there: whether the run it tells of is here, else it is the reference's, or makes no sense; page:
    whether that run was drawn.
    """

    said: str
    verdict: str = ""
    why: str = ""
    run: str = ""
    there: bool = False
    page: bool = False


def write(reports: Path = REPORTS) -> Path:
    """Write ``index.html`` of what is there now; returns its path. Of several at once, the last has seen all runs.

    Raises OSError where it cannot be written.
    """
    reports.mkdir(parents=True, exist_ok=True)
    alone = os.open(reports, os.O_RDONLY)
    try:
        fcntl.flock(alone, fcntl.LOCK_EX)
        found, left_out = rows(reports)
        columns, lines = _matrix(found, reports)
        data = {
            "fields": Row.__struct_fields__,
            "rows": found,
            "parameters": list(labels().values()),
            "lines": LINES,
            "few": FEW,
        }
        text = page(
            "site.html",
            rows=found,
            newest=found[:NEWEST],
            left_out=left_out,
            columns=columns,
            lines=lines,
            ladder=_ladder(reports),
            others=_others(reports),
            data=msgspec.json.encode(data).decode().replace("<", "\\u003c"),
        )
        replace(reports / INDEX, text.encode())
    finally:
        os.close(alone)
    return reports / INDEX


def _matrix(found: Sequence[Row], reports: Path) -> tuple[list[str], dict[str, list[Square]]]:
    """Stages, and for each scenario its squares: the newest run of each, and for the others what the reference saw."""
    seen = {(cell.scenario, cell.stage): _seen(cell) for cell in _reference(reports)}
    names = [scenario for scenario, _ in seen]
    for row in reversed(found):
        seen[row.scenario, row.stage] = Square(row.said, row.verdict, row.why, row.run, there=True, page=row.page)
    shelf = list(stages())
    columns = sorted(
        {stage for _, stage in seen}, key=lambda name: (name not in shelf, shelf.index(name) if name in shelf else 0, name)
    )
    order = [*dict.fromkeys(names), *sorted({scenario for scenario, _ in seen} - set(names))]
    return columns, {name: [seen.get((name, column), Square("")) for column in columns] for name in order}


def _seen(cell: Cell) -> Square:
    return Square(in_short(cell), cell.verdict, cell.reason)


def _reference(reports: Path) -> list[Cell]:
    path = reports / REFERENCE / "matrix" / "matrix.json"
    return _decoded(path, list[Cell]) or []


def _ladder(reports: Path) -> dict[str, Any] | None:
    """The newest ladder, else the reference's: its folder and its runs, in the order in which they were made."""
    folders = [*sorted(reports.glob("ladder-*"), reverse=True), reports / REFERENCE]
    for folder in folders:
        paths = sorted((folder / "runs").glob("*/verdict.json"))
        if rungs := [rung for path in paths if (rung := _decoded(path, Rung)) is not None]:
            return {"folder": folder.name, "rungs": rungs, "fastest": max(*(rung.throughput_per_s for rung in rungs), 1)}
    return None


def _others(reports: Path) -> dict[str, list[str]]:
    """The folders of other pages, by their kind, newest first; the reference's are its own kind."""
    others = {kind: sorted((path.parent.name for path in reports.glob(f"{kind}-*/{INDEX}")), reverse=True) for kind in KINDS}
    home = reports / REFERENCE
    others[REFERENCE] = sorted(
        path.parent.relative_to(reports).as_posix() for path in (*home.glob(INDEX), *home.glob(f"*/{INDEX}"))
    )
    return {kind: names for kind, names in others.items() if names}


def _decoded(path: Path, kind: Any) -> Any:
    """None where there is no such file, or it holds something else."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError):
        return None
