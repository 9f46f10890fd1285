"""What each cell of the matrix says in one word, and whether a cell that was not run could have been."""

from __future__ import annotations

from collections.abc import Iterable

from app.locks import stages
from lab.report.matrix import Cell, lost_otherwise
from lab.report.palette import Mark
from lab.scenario import reader as scenarios

Marks = dict[tuple[str, str], Mark]  # by scenario and stage


def mark(cell: Cell) -> Mark:
    """Return what a cell shows. A cell without a run is impossible, unless only a program was missing."""
    if not cell.verdict:
        return Mark.UNTRIED if cell.missing or not cell.reason else Mark.IMPOSSIBLE
    if cell.verdict == "KEPT":
        return Mark.OTHERWISE if lost_otherwise(cell) else Mark.KEPT
    return _harm(cell) if cell.verdict in ("ADMITTED", "BROKEN") else Mark.NOTHING


def _harm(cell: Cell) -> Mark:
    """Return the word for the harm of a cell whose claim failed."""
    if cell.claim == "all_or_nothing":
        return Mark.HALF
    if cell.claim == "counts_once" or cell.lost:
        return Mark.LOST
    return Mark.STUCK if cell.failed else Mark.LATE


def marks(cells: Iterable[Cell]) -> Marks:
    """Return the marks of cells, by scenario and stage."""
    return {(cell.scenario, cell.stage): mark(cell) for cell in cells}


def completed(cells: Iterable[Cell]) -> list[Cell]:
    """Return a cell for each scenario and stage of the lab. What no cell shows is not tried, or impossible."""
    known = {(cell.scenario, cell.stage): cell for cell in cells}
    found, shelf = [], stages()
    for name in scenarios.names():
        one = scenarios.load(name)
        for stage in shelf.values():
            blank = Cell(stage=stage.name, scenario=name, claim=one.tests.name, reason=one.misfit(stage) or "")
            cell = known.get((name, stage.name), blank)
            found.append(cell if cell.verdict or cell.missing else blank)
    return found
