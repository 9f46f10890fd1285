"""The command lines of what makes many runs: ``lab ladder``, ``matrix`` and ``experiment``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import click

from lab.commands.options import Whole, command_line, out_option, scenario_options, shown
from lab.errors import BadInput, ExitStatus


def titles() -> dict[str, str]:
    """Return the question of each experiment, by name. Nothing else of it is read."""
    files = sorted((Path(__file__).parents[1] / "experiments" / "shelf").glob("*.toml"))
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8"))["en"]["title"] for path in files}


LIST = "\n".join(("\b", "Experiments:", *(f"  {name:<12}{title}" for name, title in titles().items())))


@click.command()
@shown("--repeat", "rounds", type=Whole(1), default=1, help="Number of rounds; each runs all stages in turn.")
@out_option("the comparison", "ladder-TIME")
@scenario_options()
def ladder(rounds: int, out: Path | None, **given: Any) -> int:
    """Run every stage under the scenario rush, and compare the runs.

    The stages none and local also run with one replica. An option that you leave out has the value of rush.
    With several rounds, the charts have the least and the most of each speed over all rounds; the rest is of the first round.
    """
    from lab.experiments.ladder import run_ladder

    return run_ladder(given, out, rounds, command=command_line())


@click.command()
@click.option("--stage", "only_stages", multiple=True, help="Run only this stage. Can be repeated.")
@click.option("--scenario", "only_scenarios", multiple=True, help="Run only this scenario. Can be repeated.")
@shown("--jobs", type=Whole(1, 16), default=2, help="Number of runs at the same time.")
@shown("--repeat", type=Whole(1), default=1, help="Number of runs of each cell; shows flaky cells.")
@click.option("--draw", is_flag=True, help="Draw each run of the first round, not only those that are not as expected.")
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


@click.command(epilog=LIST)
@click.argument("name", required=False)
@click.option("--list", "listed", is_flag=True, help="List the experiments, with the question of each.")
@click.option("--stage", "stages", multiple=True, help="Stage to measure. Can be repeated.  [default: the experiment's own]")
@click.option("--values", help="What is varied, as in 1,2,5.  [default: the experiment's own]")
@click.option("--repeats", type=Whole(1), help="Number of times that each value is measured.  [default: the experiment's own]")
@scenario_options("requests", "seed", seed="Seed of the order, and of the load.")
@out_option("the result: NAME.csv, its table and its picture", "experiment-NAME-TIME")
def experiment(name: str | None, listed: bool, stages: tuple[str, ...], out: Path | None, **how: Any) -> int:
    """Vary one thing, and measure another.

    NAME is one of the experiments below. All values are measured in turn, and again in another order that the seed
    sets; what is compared in pairs is measured side by side. The result is a CSV file, with a table and a picture.
    """
    if listed or name is None:
        click.echo("\n".join(LIST.splitlines()[1:]))
        return ExitStatus.GOOD
    from lab.experiments.runner import run_experiment

    repeats, values = how.pop("repeats"), how.pop("values")
    return run_experiment(name, stages, repeats, values, how, out, command=command_line())
