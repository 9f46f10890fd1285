"""One round of a matrix: each cell is run once, several at a time, and its verdict is counted in the cell."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.errors import NothingShown
from lab.experiments.runs import in_parallel, make
from lab.judge.judgement import Judgement
from lab.paths import REPORTS
from lab.report.matrix import Cell, cell_requests, lost_otherwise
from lab.scenario import reader as scenarios
from lab.story.verdict import grounds

RESULT = ("verdict", "lost", "duplicated", "failed", "unknown", "took_s", "reason", "grounds", "run", "broken")


def conduct(
    cells: Sequence[Cell], jobs: int, on_done: Callable[[Cell], None], reports: Path = REPORTS, draw: bool = False
) -> None:
    """Run each cell once, ``jobs`` at a time, and count the verdict in the cell.

    on_done: is given each run as a cell of its own. draw: draw all runs; otherwise only runs that are not as expected.
    """
    for cell, (run, _) in in_parallel(judged, [(cell, _args(cell, draw, reports)) for cell in cells], jobs):
        count(cell, run)
        on_done(run)


def _args(cell: Cell, draw: bool, reports: Path) -> tuple[Any, ...]:
    """Return the arguments of ``judged`` for a run of the cell."""
    scenario = scenarios.load(cell.scenario)
    given = {"requests": cell_requests(scenario)} if cell_requests(scenario) < scenario.requests else {}
    blank = Cell(stage=cell.stage, scenario=cell.scenario, claim=cell.claim, expected=cell.expected)
    return blank, cell.scenario, cell.stage, given, draw, reports


def count(cell: Cell, run: Cell) -> None:
    """Count a run in its cell. The cell has the figures of its first run; or of a later one if that broke a promise.

    A VOID run showed nothing: the first run that shows something takes its place.
    """
    if cell.verdict:
        cell.rounds = cell.rounds or {cell.verdict: 1}
        cell.rounds[run.verdict] = cell.rounds.get(run.verdict, 0) + 1
    same = cell.verdict == run.verdict and lost_otherwise(run) and not lost_otherwise(cell)
    if (
        cell.verdict in ("", "VOID") or same or (run.verdict == "BROKEN" != cell.verdict)
    ):  # green must not hide a later run that lost or broke something
        for name in RESULT:
            setattr(cell, name, getattr(run, name))


def judged(
    cell: Cell, scenario: str, stage: str, given: Mapping[str, Any], draw: bool, reports: Path = REPORTS
) -> tuple[Cell, Judgement | None]:
    """Make a run, and write its verdict into the cell. Return both; the cell of a run that fails is VOID.

    scenario, stage: as ``lab run`` takes them. given: options of the scenario. draw: draw the run even if it is as expected.
    """
    began_s = time.monotonic()
    try:
        judgement = make(scenario, stage, given, draw, cell.expected, reports)
    except NothingShown as failure:
        cell.verdict, cell.reason = "VOID", str(failure)
        return cell, None
    cell.took_s = time.monotonic() - began_s
    cell.broken = sorted({one.claim for one in judgement.violations if one.breaks_promise})
    cell.verdict, cell.run, cell.grounds = judgement.verdict, judgement.run, grounds(judgement)
    cell.lost, cell.duplicated = judgement.lost, judgement.duplicated
    cell.failed, cell.unknown = judgement.failed, judgement.unknown
    return cell, judgement
