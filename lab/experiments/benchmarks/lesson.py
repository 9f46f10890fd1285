"""Runs of the lesson that end alike; the pairs are runs of each.

Compared are verdict, main cause, and the happenings of the story.
A teacher has one try. Two runs go on at once, so that the machine is busy; the load average is part of the result.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from app.locks import stages
from lab.errors import NothingShown
from lab.experiments.benchmark import Measured, RatioLimit
from lab.experiments.child_run import child_run, warm_runs
from lab.judge.verdict import judge_again
from lab.paths import REPORTS
from lab.report import timeline_reader
from lab.report.statistics import wilson
from lab.report.terminal import terminal
from lab.story.from_run import caption
from lab.story.steps import steps
from lab.ui import lesson

JOBS = 2


class RunEnd(NamedTuple):
    """How a run ended."""

    verdict: str
    # the mechanism that destroyed most; empty where nothing was lost
    cause: str
    # the kinds of its happenings, in alphabetical order: the order of two moments of the load is chance
    story: str


def runs() -> dict[tuple[int, str], tuple[str, ...]]:
    """Return the runs of the lesson: the arguments of ``lab run``, by step and command."""
    return {
        (place.number, action.command): action.words
        for place in lesson.steps()
        for action in place.step.actions
        if action.kind == lesson.RUN
    }


def measure(pairs: int) -> Iterator[Measured]:
    """Make each run of the lesson so many times, all of them once before any is made again."""
    loads: list[float] = []

    def ending(words: tuple[str, ...]) -> RunEnd:
        loads.append(os.getloadavg()[0])
        return _ending(words)

    cells, found = runs(), list[RunEnd]()
    todo = [*cells.values()] * pairs
    try:
        with warm_runs(), ThreadPoolExecutor(JOBS) as pool, terminal().status("") as status:
            for end in pool.map(ending, todo):
                found.append(end)
                status.update(f"{len(found)} of {len(todo)} runs")
    except KeyboardInterrupt:
        del found[len(found) // len(cells) * len(cells) :]  # a round that is not whole
        yield from _all_measured(cells, found, loads)
        raise
    yield from _all_measured(cells, found, loads)


def _all_measured(cells: Iterable[tuple[int, str]], found: list[RunEnd], loads: list[float]) -> Iterator[Measured]:
    """Yield the figure of each run of the lesson. found: how its runs ended, a round after the other."""
    names = [*cells] if found else []
    for place, (step, command) in enumerate(names):
        yield _measured(step, command, found[place :: len(names)], loads)


def _measured(step: int, command: str, found: list[RunEnd], loads: list[float]) -> Measured:
    (usual, alike), *others = Counter(found).most_common()
    low, high = wilson(alike, len(found))
    least, most = f"{min(loads):.0f}", f"{max(loads):.0f}"
    return Measured(
        name=f"lesson {step} {command}",
        what=f"runs of `lab {command}` that end alike, of {len(found)}, at a load average of {least} to {most}",
        value=alike / len(found),
        low=low,
        high=high,
        promise=RatioLimit(at_least=1),
        samples=[float(one == usual) for one in found],
        remark="; ".join(f"{number} of them: {' · '.join(filter(None, one))}" for one, number in ((usual, alike), *others)),
        seen=usual._asdict() | {"least_load": least, "most_load": most},
    )


def _ending(words: tuple[str, ...]) -> RunEnd:
    try:
        folder = REPORTS / "runs" / child_run([*words, "--no-draw"], REPORTS.parent).run
    except NothingShown as failure:
        return RunEnd("VOID", "", str(failure))
    return ending_of(folder)


def ending_of(folder: Path) -> RunEnd:
    """Return how the run in a folder ended."""
    judgement, findings = judge_again(folder)
    picture = timeline_reader.read(folder, judgement, findings, stages()[judgement.stage].store is not None)
    found = steps(picture)
    happened = (
        [event.what for step in found.steps for event in step] if found else [one for part in caption(picture) for one in part]
    )
    cause = max(judgement.lost_by, key=lambda one: judgement.lost_by[one], default="")
    return RunEnd(judgement.verdict, cause, " ".join(sorted({one.kind.value for one in happened})))
