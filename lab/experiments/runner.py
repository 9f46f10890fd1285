"""Meter the points of an experiment, one after another, so that no point disturbs another.

Without pairs, repeats are blocks: each value of each stage is measured once before any is measured again, in an order that the
seed shuffles (R. A. Fisher, "The Design of Experiments", 1935: randomised blocks). With pairs, each point is measured right
before or right after the one that it is compared with, in turn: the speed of a machine drifts, the ratio of two neighbours does
not. The seed of the load grows by one for each repeat.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from app.shelf import plugins
from lab.errors import BadInput, ExitStatus, worst
from lab.experiments import experiment as shelf
from lab.experiments import result as results
from lab.experiments.drawing import write
from lab.experiments.experiment import Experiment
from lab.experiments.measures import Meter
from lab.experiments.result import CONDITIONS, Measurement, Point, digits
from lab.interrupts import interruptible
from lab.judge.judgement import Verdict
from lab.paths import new_place
from lab.report.terminal import terminal
from lab.servers.supervisor import one_supervisor
from lab.story.say import text
from lab.text import counted


def run_experiment(
    name: str,
    stages: Sequence[str],
    repeats: int | None,
    values: str | None,
    given: Mapping[str, int | None],
    out: Path | None,
    command: str,
) -> int:
    """Run ``lab experiment``. Return 0; 3 if a point is VOID; 1 if a stage broke its promise; 130 if it was interrupted.

    given: the scenario's options that the user gave. Raises BadInput, MissingProgram, NothingShown.
    """
    experiment = shelf.load(name)
    asked = {option: value for option, value in given.items() if value is not None}
    wanted, varied = list(dict.fromkeys(stages)) or experiment.stages, shelf.chosen(experiment, values)
    plan = planned(experiment, wanted, varied, repeats or experiment.repeats, asked.get("seed", 1))
    console = terminal()
    with ExitStack() as stack:
        measure = plugins.file("lab.experiments.measures", experiment.measure).METER(experiment, asked, command, stack)
        conditions = {
            name: " / ".join(sorted({measure.conditions(one.stage, one.value, language) for one in plan}))
            for language, name in CONDITIONS.items()
        }
        about = {"stages": ", ".join(wanted), "values": ", ".join(varied), "planned": len(plan), "ended": "cut short"}
        result = results.new_measurement(experiment, command=command, **conditions, **about)
        path = (out or new_place(f"experiment-{name}")) / f"{name}.csv"
        console.print(f"[bold]{escape(experiment.en.title)}[/]\n{counted(len(plan), 'point')}; Ctrl-C keeps what was measured")
        stack.enter_context(one_supervisor())
        stack.enter_context(interruptible())
        try:
            _measured(plan, measure, result, path, console)
            result.about["ended"] = "complete"
        except KeyboardInterrupt:
            result.about["ended"] = "interrupted"
    return _end(console, result, path)


def planned(experiment: Experiment, stages: Sequence[str], values: Sequence[str], repeats: int, seed: int) -> list[Point]:
    """Return all points in the order in which they will be measured. Raises BadInput if there is nothing to compare."""
    plan: list[Point] = []
    against = experiment.against
    for repeat in range(1, repeats + 1):
        block = [(stage, value) for stage in stages for value in values if stage != against]
        random.Random(f"{seed}-{repeat}").shuffle(block)  # noqa: S311 - an order, not a secret
        for stage, value in block:
            pair = 1 + (plan[-1].pair if plan else 0)
            one, other = (Point(stage=each, value=value, repeat=repeat, pair=pair if against else 0) for each in (stage, against))
            plan += [one] if not against else [one, other] if repeat % 2 else [other, one]
    if not plan:
        raise BadInput(f"the experiment {experiment.name} compares with {against!r}: give another one as well")
    return plan


def _measured(plan: Sequence[Point], measure: Meter, result: Measurement, path: Path, console: Console) -> None:
    """Meter all points, and write the file after each."""
    for number, point in enumerate(plan, 1):
        measure.measure(point)
        result.points.append(point)
        results.save(result, path)
        against = result.about["against"]
        figures = ", ".join(f"{text('figure', one, against=against)} {digits(one, size)}" for one, size in point.figures.items())
        why = "" if point.sound else f"  {escape(point.reason)}"
        console.print(
            f"{number:3} of {len(plan)}  {point.stage:14} {point.value:8} {point.verdict:9}{figures}{why}", soft_wrap=True
        )


def _end(console: Console, result: Measurement, path: Path) -> int:
    """Draw the results, print them, and return the exit status."""
    if not result.points:
        console.print("interrupted before the first point was measured; there is nothing to show", style="yellow")
        return ExitStatus.INTERRUPTED
    results.save(result, path)
    table, *pictures = write(result, path.parent)
    console.print(f"\n{table.read_text(encoding='utf-8')}", markup=False, soft_wrap=True)
    for one in (path, table, *pictures):
        console.print(str(one), style="dim", markup=False, soft_wrap=True)
    if result.partial:
        console.print(f"partial: {result.partial}; nothing is left running", style="yellow")
        return ExitStatus.INTERRUPTED
    return worst(Verdict[point.verdict].exit_status for point in result.points if point.verdict and not point.sound)
