"""What a lock costs next to a stage of the ladder: pairs of runs under ``rush``, made in turn, with nothing else at work."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from lab.experiments.benchmark import pairwise
from lab.experiments.matrix_round import judgement_of
from lab.experiments.own_lock import OwnCell
from lab.judge.judgement import Judgement, Verdict
from lab.report.tested_lock import Speed

NEXT_TO = "lua"
SCENARIO = "rush"
NOT_DRAWN = ["--no-draw"]
SHOWN = (Verdict.KEPT, Verdict.UNSEEN, Verdict.ADMITTED)  # the speed of a lock that lets two in, or nobody, says nothing


def measure_speed(task: OwnCell, pairs: int, named: str, reports: Path) -> Speed | None:
    """Make pairs of runs; each run of the lock is a round of the task. Return None where no pair shows a speed.

    task: the lock under ``rush``. named: the lock, as a command names it.
    """

    def of_the_lock() -> Judgement | None:
        task.rounds.append(cell := task.cell())
        return judgement_of(cell, [*task.words, *NOT_DRAWN], reports)

    next_to = task.words_for(NEXT_TO)
    both = list(pairwise(pairs, of_the_lock, lambda: judgement_of(task.cell(), [*next_to, *NOT_DRAWN], reports)))
    shown = [(one, other) for one, other in both if one and other and one.verdict in SHOWN and other.verdict in SHOWN]
    if not shown or any(cell.verdict == Verdict.BROKEN for cell in task.rounds):
        return None
    mine, theirs = zip(*shown, strict=True)

    def mean(of: tuple[Judgement, ...], figure: Callable[[Judgement], float]) -> float:
        return round(sum(map(figure, of)) / len(of), 1)

    return Speed(
        next_to=NEXT_TO,
        command=shlex.join(["lab", "run", *task.words_for(named)]),
        next_to_command=shlex.join(["lab", "run", *next_to]),
        per_s=[one.kept_per_s for one in mine],
        next_to_per_s=[one.kept_per_s for one in theirs],
        commands=mean(mine, lambda one: one.commands_per_increment),
        next_to_commands=mean(theirs, lambda one: one.commands_per_increment),
        longest_wait_ms=max(one.wait_ms["max"] for one in mine),
        next_to_longest_wait_ms=max(one.wait_ms["max"] for one in theirs),
    )
