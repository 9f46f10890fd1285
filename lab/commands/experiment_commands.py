"""The command lines of ``lab experiment``: the ladder, the matrix, and one for each experiment of ``lab/experiments/shelf``."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import click

from lab.commands.options import Whole, command_line, is_listing, json_list, out_option, scenario_options, shown
from lab.errors import BadInput
from lab.text import WIDTH


@click.group(invoke_without_command=True)
@json_list
@click.pass_context
def experiment(context: click.Context, as_json: bool) -> None:
    """Vary one thing, and measure another; without a name, list all.

    The ladder and the matrix vary the lock. All others measure each value in turn, and again in another order that the
    seed sets; pairs that are compared are measured side by side. Their result is a CSV file, with a table and a picture.
    """
    if not is_listing(context, as_json):
        return
    titles = {name: one.get_short_help_str(WIDTH) for name, one in experiment.commands.items()}
    if as_json:
        from lab.evidence.run_folder import as_json as in_json

        sys.stdout.write(in_json([{"name": name, "title": title} for name, title in titles.items()]))
    else:
        click.echo("\n".join(f"{name:<12}{title}" for name, title in titles.items()))


@experiment.command()
@shown("--repeat", "rounds", type=Whole(1), default=1, help="Number of rounds; each runs all stages in turn.")
@out_option("the comparison", "ladder-TIME")
@scenario_options()
def ladder(rounds: int, out: Path | None, **given: Any) -> int:
    """Run every stage under rush, and compare the runs.

    The stages none and local also run with one replica. An option that you leave out has the value of the scenario rush.
    With several rounds, the charts have the least and the most of each speed over all rounds; the rest is of the first round.
    """
    from lab.experiments.ladder import run_ladder

    return run_ladder(given, out, rounds, command=command_line())


@experiment.command()
@click.option("--stage", "only_stages", multiple=True, help="Run only this stage. Can be repeated.")
@click.option("--scenario", "only_scenarios", multiple=True, help="Run only this scenario. Can be repeated.")
@shown("--jobs", type=Whole(1, 16), default=2, help="Number of runs at the same time.")
@shown("--repeat", type=Whole(1), default=1, help="Number of runs of each cell; shows flaky cells.")
@click.option("--draw", is_flag=True, help="Draw each run of the first round, not only runs with an unexpected verdict.")
@click.option("--resume", is_flag=True, help="Run a cell only as often as the matrix in --out lacks runs of it.")
@out_option("the matrix; cells that are already in it stay, if judge and commit are the same", "matrix-TIME")
def matrix(only_stages: tuple[str, ...], only_scenarios: tuple[str, ...], out: Path | None, **how: Any) -> int:
    """Run every stage under every scenario that fits it.

    The table compares each verdict with the expected verdict in docs/expected.toml. A lock of your own has none:
    `lab test ./my_lock.py` runs every scenario that tests a promise of it.
    """
    if own := next((name for name in only_stages if name.endswith(".py")), None):
        raise BadInput(f"--stage {own}: the matrix has the stages of the lab; `lab test {own}` tests a lock of your own")
    from lab.experiments.matrix import run_matrix

    return run_matrix(only_stages, only_scenarios, out=out, **how)


def add(name: str, title: str) -> None:
    """Add the command of an experiment to the group. title: the question that it answers."""

    @experiment.command(name, help=title)
    @click.option("--stage", "stages", multiple=True, help="Stage to measure. Can be repeated.  [default: the experiment's own]")
    @click.option("--values", help="The varied values, as in 1,2,5.  [default: the experiment's own]")
    @click.option(
        "--repeats", type=Whole(1), help="Number of times that each value is measured.  [default: the experiment's own]"
    )
    @scenario_options("requests", "seed", seed="Seed of the order, and of the load.")
    @out_option(f"the result: {name}.csv, its table and its picture", f"experiment-{name}-TIME")
    def run(stages: tuple[str, ...], repeats: int | None, values: str | None, out: Path | None, **given: Any) -> int:
        from lab.experiments.runner import run_experiment

        return run_experiment(name, stages, repeats, values, given, out, command=command_line())


for path in sorted((Path(__file__).parents[1] / "experiments" / "shelf").glob("*.toml")):
    add(path.stem, tomllib.loads(path.read_text(encoding="utf-8"))["en"]["title"])
