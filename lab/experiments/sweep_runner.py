"""Make the runs of a sweep, one after another, so that no run disturbs another.

A *point* is one run: one value with one stage, once. Repeats are blocks: each value of each stage is
measured once before any is measured again. The seed of the load grows by one per repeat. The first
seed and the number of the repeat shuffle the order within a block. So a machine that slows down
affects all values alike, and an interrupted sweep has measured all values about equally often (R. A.
Fisher, "The Design of Experiments", 1935: randomised blocks).
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape

from app.lock import Stage
from lab.errors import CannotWrite, ExitStatus, NotReady, choose_from, worst
from lab.experiments import sweeps
from lab.experiments.measurement import made_now, new_place, record
from lab.experiments.sweep import RESULT, START_S, Point, Sweep, SweepResult, numbers, point_of, shown
from lab.experiments.sweep_report import write_again
from lab.judge.judgement import Verdict
from lab.pipeline import by_locust, conduct, finish, publish_site
from lab.report.terminal import STYLES, terminal
from lab.scenario.scenario import Scenario
from lab.scenario.stages import find_stage
from lab.servers.supervisor import one_supervisor, supervised
from lab.text import counted


class PlannedRun(NamedTuple):
    """One run that the sweep will make."""

    stage: Stage
    # what is varied
    value: float
    # the number of the repeat, from 0
    repeat: int
    # the sweep's scenario with this value and with the seed of this repeat
    scenario: Scenario


Plan = list[PlannedRun]


def run_sweep(
    name: str,
    stage_names: Sequence[str],
    repeats: int | None,
    values: str | None,
    given: Mapping[str, int | None],
    out: Path | None,
    command: str,
) -> int:
    """Run ``lab sweep``. Return 0; 3 if a point is VOID; 1 if a stage broke its promise; 130 if it
    was interrupted.

    given: the scenario's options that the user gave (requests, seed). Raises BadInput, MissingProgram.
    """
    sweep = sweeps.load(choose_from("sweep", name, sweeps.names()))
    stages = [find_stage(stage) for stage in dict.fromkeys(stage_names or sweep.stages)]
    asked = {key: value for key, value in given.items() if value is not None}
    wanted = sweep.values if values is None else numbers(values)
    plan = planned(sweep, stages, wanted, repeats or sweep.repeats, asked)
    result = _blank(name, stages, wanted, repeats or sweep.repeats, plan, command)
    into = out or new_place(f"sweep-{name}")
    console = terminal()
    _announce(console, sweep, plan)
    into.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(KeyboardInterrupt), one_supervisor():
        record(result, _conducted(sweep, plan, command, console), into / RESULT)
    return _end(console, result, into)


def planned(sweep: Sweep, stages: Sequence[Stage], values: Sequence[float], repeats: int, given: Mapping[str, int]) -> Plan:
    """Return all runs in the order in which they will be made. Raises BadInput, before any run is made."""
    seed = given.get("seed", 1)
    plan: Plan = []
    for repeat in range(repeats):
        settings = {**given, "seed": seed + repeat}
        block = [PlannedRun(stage, value, repeat, sweep.at(value, stage, settings)) for stage in stages for value in values]
        random.Random(f"{seed}-{repeat}").shuffle(block)  # noqa: S311 - an order, not a secret
        plan += block
    return plan


def _blank(name: str, stages: Sequence[Stage], values: Sequence[float], repeats: int, plan: Plan, command: str) -> SweepResult:
    first = asdict(plan[0].scenario)
    kept = ("name", "requests", "users", "replicas", "ttl_ms", "retry_ms", "work_ms", "wait_ms", "danger")
    fixed = {key: first[key] for key in kept if len({str(getattr(run.scenario, key)) for run in plan}) == 1}
    return made_now(
        SweepResult,
        sweep=name,
        command=command,
        seed=plan[0].scenario.seed,
        stages=[stage.name for stage in stages],
        values=list(values),
        repeats=repeats,
        scenario=fixed,
        planned=len(plan),
    )


def expected_s(sweep: Sweep, plan: Plan) -> float:
    """Return about how long the sweep takes on an idle machine."""
    return sum(START_S + sweep.expected_s(run.value, run.scenario.requests) for run in plan)


def _announce(console: Console, sweep: Sweep, plan: Plan) -> None:
    console.print(f"[bold]{escape(sweep.title)}[/]")
    longer = "longer on a busy one; Ctrl-C keeps what was measured until then"
    console.print(
        f"{counted(len(plan), 'run')}, about {_minutes(expected_s(sweep, plan))} on an idle machine; {longer}", style="dim"
    )


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def _conducted(sweep: Sweep, plan: Plan, command: str, console: Console) -> Iterator[Point]:
    began_s = time.monotonic()
    for number, (stage, value, repeat, scenario) in enumerate(plan, 1):
        point = _point(sweep, stage, value, repeat, scenario, command)
        left = (time.monotonic() - began_s) / number * (len(plan) - number)
        figures = ", ".join(f"{sweep.figures[name]} {shown(name, figure)}" for name, figure in point.figures.items())
        why = "" if point.sound else f"  {escape(point.reason)}"
        colour = STYLES[point.verdict]
        console.print(
            f"{number:3} of {len(plan)}  {stage.name:16}{value:<7g}[{colour}]{point.verdict:9}[/]{figures}{why}"
            f"[dim]  {_minutes(left)} left[/]",
            soft_wrap=True,
        )
        yield point


def _point(sweep: Sweep, stage: Stage, value: float, repeat: int, scenario: Scenario, command: str) -> Point:
    """Make one run, kept in reports/runs. Raises KeyboardInterrupt when it was cut short: a part of
    a run is not a point.
    """
    try:
        with supervised() as supervisor:
            done = conduct(supervisor, stage, scenario, by_locust(supervisor, scenario, lambda done: None), command)
    except NotReady as failure:
        return Point(stage=stage.name, value=value, repeat=repeat, verdict="VOID", reason=f"the run could not start: {failure}")
    finish(done, draw=False)
    if done.record.interrupted:
        raise KeyboardInterrupt
    if done.unwritten:
        raise CannotWrite(f"the sweep ends here: {done.unwritten}")
    return point_of(stage.name, value, repeat, done.judgement, tuple(sweep.figures))


def _end(console: Console, result: SweepResult, into: Path) -> int:
    if not result.points:
        with contextlib.suppress(OSError):  # the folder may not exist yet, or contain other files
            into.rmdir()
        console.print("interrupted before the first point was measured; there is nothing to show", style="yellow")
        return ExitStatus.INTERRUPTED
    paths = write_again(into)
    publish_site()
    console.print()
    console.print((into / "sweep.md").read_text(encoding="utf-8"), markup=False, soft_wrap=True)
    for path in paths:
        console.print(str(path), style="dim", markup=False, soft_wrap=True)
    if result.partial:
        console.print(f"partial: {result.partial}; nothing is left running", style="yellow")
        return ExitStatus.INTERRUPTED
    return worst(Verdict[point.verdict].exit_status for point in result.points if not point.sound)
