"""The command lines of what makes many runs: ``lab ladder``, ``matrix``, ``sweep``, ``bench`` and ``growth``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lab.commands.options import Whole, command_line, out_option, scenario_options, shown
from lab.errors import BadInput


def lines_of(shelf: str) -> str:
    """Return the help text of a shelf of experiments: the first line of each file, none of which is imported."""
    files = sorted((Path(__file__).parents[1] / "experiments" / shelf).glob("[!_]*.py"))
    named = ((path.stem, path.read_text(encoding="utf-8").partition("\n")[0].strip('".')) for path in files)
    return "\n".join(("\b", f"{shelf.capitalize()}:", *(f"  {name:<10}{line}" for name, line in named)))


@click.command()
@shown("--repeat", "rounds", type=Whole(1), default=1, help="Number of rounds; each runs all stages in turn.")
@out_option("the comparison", "ladder-TIME")
@scenario_options()
def ladder(rounds: int, out: Path | None, **given: Any) -> int:
    """Run every stage under the scenario rush, and compare the runs.

    The stages none and local also run with one replica. An option that you leave out has the value of rush.
    With several rounds, the charts have the interval of each speed over all rounds; the rest is of the first round.
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


@click.command(epilog=lines_of("sweeps"))
@click.argument("name")
@click.option("--stage", "stages", multiple=True, help="Stage to measure. Can be repeated.  [default: the sweep's own]")
@click.option("--values", help="Values of the parameter, as in 1,2,5.  [default: the sweep's own]")
@click.option("--repeats", type=Whole(1), help="Number of runs for each value.  [default: the sweep's own]")
@scenario_options("requests", "seed", seed="Seed of the order of the runs and of each run.")
@out_option("the result", "sweep-NAME-TIME")
def sweep(
    name: str, stages: tuple[str, ...], values: str | None, repeats: int | None, out: Path | None, **given: int | None
) -> int:
    """Vary one parameter, and measure its effect.

    NAME is one of the sweeps below. Each point is a run of its own. Each value is measured once, in a random
    order that the seed sets, before any is measured again. An option that you leave out has the sweep's own value;
    the seed is 1.
    """
    from lab.experiments.sweep_runner import run_sweep

    return run_sweep(name, stages, repeats, values, given, out, command=command_line())


@click.command(epilog=lines_of("benchmarks"))
@click.argument("names", nargs=-1)
@shown("--pairs", type=Whole(3), default=12, help="Number of pairs to measure.")
def bench(names: tuple[str, ...], pairs: int) -> int:
    """Measure what the lab and the locks cost, as ratios.

    NAMES are measurements, by default all. A pair measures two things, one directly after the other, and takes their
    ratio: a change in the machine's speed affects both alike.
    """
    from lab.experiments.benchmark import measure

    return measure(names, pairs)


@click.command()
@shown("--most-requests", type=Whole(1), default=500_000, help="Largest number of requests in a run.")
@out_option("growth.json", "growth-TIME")
def growth(most_requests: int, out: Path | None) -> int:
    """Measure what more requests, users, replicas, processes cost."""
    from lab.experiments.growth import measure, plan

    return measure(plan(most_requests), command_line(), out, lambda point: click.echo(point.line()))
