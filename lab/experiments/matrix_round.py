"""One round of a matrix: each cell is run once, several at a time, and its verdict is counted in the cell.

Each cell is a run of its own, by the command line of ``lab run``, so that each can be repeated by its command.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import TypeVar

from lab.errors import NothingShown
from lab.experiments.child_run import child_command, child_run, interrupt_runs
from lab.judge.judgement import Judgement
from lab.paths import REPORTS
from lab.report.matrix import Cell, Round, cell_requests, lost_otherwise
from lab.scenario import reader as scenarios
from lab.story.verdict import grounds

Task = TypeVar("Task")  # what a run is made of
RESULT = ("verdict", "lost", "duplicated", "failed", "unknown", "duration_s", "took_s", "reason", "grounds", "run", "broken")


def conduct(
    cells: Sequence[Cell], jobs: int, on_done: Callable[[Cell], None], reports: Path = REPORTS, draw: bool = False
) -> Round:
    """Run each cell once, ``jobs`` at a time, and count the verdict in the cell. Return what the round cost.

    on_done: is given each run as a cell of its own. draw: draw all runs; otherwise only those that are not as expected.
    """
    began_s, runs = time.monotonic(), []
    for cell, run in in_parallel(lambda cell: _conducted(cell, reports, draw), cells, jobs):
        runs.append(run)
        count(cell, run)
        on_done(run)
    return Round.of(runs, jobs, time.monotonic() - began_s)


def in_parallel(make: Callable[[Task], Cell], tasks: Sequence[Task], jobs: int) -> Iterator[tuple[Task, Cell]]:
    """Make runs, ``jobs`` at a time, and yield each with its task as it is done. After an interrupt, no other run begins."""
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(make, task): task for task in tasks}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BaseException:
            interrupt_runs()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def count(cell: Cell, run: Cell) -> None:
    """Count a run in its cell. The cell has the figures of its first run; of a later one where that broke a promise.

    A VOID run showed nothing: the first run that shows something takes its place.
    """
    if cell.verdict:
        cell.rounds = cell.rounds or {cell.verdict: 1}
        cell.rounds[run.verdict] = cell.rounds.get(run.verdict, 0) + 1
    same = cell.verdict == run.verdict and lost_otherwise(run) and not lost_otherwise(cell)
    if (
        cell.verdict in ("", "VOID") or same or (run.verdict == "BROKEN" != cell.verdict)
    ):  # green must not hide what a later run lost or broke
        for name in RESULT:
            setattr(cell, name, getattr(run, name))


def judged(cell: Cell, words: Sequence[str], reports: Path = REPORTS) -> Cell:
    """Make a run with these arguments of ``lab run``, and write its verdict into the cell. A run that fails is VOID."""
    judgement_of(cell, words, reports)
    return cell


def judgement_of(cell: Cell, words: Sequence[str], reports: Path = REPORTS) -> Judgement | None:
    """Do the same, and return the judgement; None of a run that fails."""
    began_s = time.monotonic()
    try:
        judgement = child_run(words, reports.parent)
    except NothingShown as failure:
        cell.verdict, cell.reason = "VOID", str(failure)
        return None
    cell.took_s = time.monotonic() - began_s
    cell.broken = sorted({one.claim for one in judgement.violations if one.breaks_promise})
    cell.verdict, cell.run, cell.grounds = judgement.verdict, judgement.run, grounds(judgement)
    cell.lost, cell.duplicated = judgement.lost, judgement.duplicated
    cell.failed, cell.unknown, cell.duration_s = judgement.failed, judgement.unknown, judgement.duration_s
    return judgement


def _conducted(cell: Cell, reports: Path, draw: bool) -> Cell:
    """Return a run of the cell."""
    one = scenarios.load(cell.scenario)
    words = [cell.scenario, "--stage", cell.stage]
    words += ["--requests", str(cell_requests(one))] if cell_requests(one) < one.requests else []
    run = Cell(stage=cell.stage, scenario=cell.scenario, claim=cell.claim, expected=cell.expected)
    run = judged(run, [*words, *([] if draw else ["--no-draw"])], reports)
    if run.run and not draw and not run.as_expected:
        with contextlib.suppress(NothingShown):  # the verdict is known, and `lab report` can draw the run later
            child_command(["report", run.run], reports.parent)
    return run
