"""The command line: parsing only. Every command imports what it needs when it is called, so that --help is quick."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from lab.errors import ExitStatus, LabError, choose_from


class Verbs(click.Group):
    """A group whose unknown commands are answered with the nearest and all there are."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and not args[0].startswith("-"):
            choose_from("command", args[0], self.list_commands(ctx), "lab")
        return super().resolve_command(ctx, args)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
def lab() -> None:
    """See, with real servers and real load, which lock loses which increment, why, and at what price."""


def scenario_options(command: Any) -> Any:
    """What of a scenario can be changed for one run."""
    for name, kind, text in reversed(
        [
            ("requests", int, "how many requests to send, over all users"),
            ("users", int, "how many users send them, each waiting for its answer"),
            ("replicas", int, "how many replicas stand behind nginx"),
            ("processes", int, "how many Locust processes drive the load"),
            ("ttl-ms", int, "the lock's time to live"),
            ("wait-ms", int, "how long a request waits for the lock before it is refused"),
            ("retry-ms", int, "how long a waiter sleeps between tries"),
            ("work-ms", int, "how long the work takes between reading and writing"),
            ("rate", float, "arrivals a second, whatever the answers do (instead of users)"),
            ("seed", int, "of everything random"),
        ]
    ):
        command = click.option(f"--{name}", type=kind, help=text)(command)
    return command


@lab.command()
@click.argument("scenario")
@click.option("--stage", required=True, help="a stage's name, or the path of a file written like those in app/locks")
@scenario_options
@click.option("--json", "as_json", is_flag=True, help="print the content of verdict.json and nothing else")
@click.option("--no-draw", is_flag=True, help="leave the pictures for later: lab report RUN")
@click.option("--engine", default="local", show_default=True, help="where its servers run: local, or docker (docs/containers.md)")
def run(scenario: str, stage: str, as_json: bool, no_draw: bool, engine: str, **given: Any) -> int:
    """Run one stage under SCENARIO, judge it, draw it."""
    if choose_from("engine", engine, ("local", "docker")) == "docker":
        from lab.containers.compose import run_there

        return run_there(scenario, stage, given, as_json, draw=not no_draw)
    from lab.commands.run import run_one

    return run_one(scenario, stage, given, as_json, command=_command(), draw=not no_draw)


@lab.command()
@click.option("--out", type=click.Path(path_type=Path), help="where to write the comparison (reports/ladder-<time> unless told)")
@scenario_options
def ladder(out: Path | None, **given: Any) -> int:
    """Run every stage under rush, and none and local in one replica too; compare them."""
    from lab.experiments.ladder import run_ladder

    return run_ladder(given, out, command=_command())


@lab.command()
@click.option("--stage", "only_stages", multiple=True, help="only these (may be given several times)")
@click.option("--scenario", "only_scenarios", multiple=True, help="only these (may be given several times)")
@click.option("--jobs", type=click.IntRange(1, 16), default=2, show_default=True, help="how many runs at a time")
@click.option("--repeat", type=click.IntRange(1), default=1, show_default=True, help="how many times over, to see what wavers")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="where to write it, beside the cells that are there already (reports/matrix-<time> unless told)",
)
def matrix(only_stages: tuple[str, ...], only_scenarios: tuple[str, ...], jobs: int, repeat: int, out: Path | None) -> int:
    """Run every stage under every scenario that fits it, and compare with what was expected."""
    from lab.experiments.matrix import run_matrix

    return run_matrix(only_stages, only_scenarios, jobs, repeat, out)


@lab.command()
@click.argument("name")
@click.option("--stage", "stages", multiple=True, help="of this one (may be given several times; lua unless told)")
@click.option("--values", help="what to vary over, as 1,2,5 (the sweep's own unless told)")
@click.option("--repeats", type=click.IntRange(1), help="how often each value is measured (the sweep's own unless told)")
@click.option("--requests", type=int, help="how many requests each run sends")
@click.option("--seed", type=int, help="of the order and of everything random in the runs")
@click.option("--out", type=click.Path(path_type=Path), help="where to write it (reports/sweep-NAME-<time> unless told)")
def sweep(
    name: str, stages: tuple[str, ...], values: str | None, repeats: int | None, out: Path | None, **given: int | None
) -> int:
    """Vary one parameter and measure what it does.

    NAME: retry (how often a waiter asks, against speed, waits and commands) or ttl (the increments lost as the work outgrows
    the TTL). Each point is a run of its own, kept in reports/runs; repeats are interleaved, in shuffled order.
    """
    from lab.experiments.sweep_runner import run_sweep

    return run_sweep(name, stages, repeats, values, given, out, command=_command())


@lab.command()
@click.option("--stage", required=True, help="one stage, or several with commas; then ?stage= chooses one per request")
@scenario_options
def up(stage: str, **given: Any) -> int:
    """Keep a stage's servers up at a printed address, for curl, ab, wrk or locust, until Ctrl-C."""
    from lab.commands.up import keep_up

    return keep_up(stage, given)


@lab.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8089, show_default=True, help="of the page (0: any free one)")
@click.option("--live-port", type=click.IntRange(0, 65535), default=0, help="of the live page (any free one unless told)")
@click.option("--processes", type=click.IntRange(1, 64), default=1, show_default=True, help="how many Locust processes send")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="where to listen; beyond this machine, a password is asked for"
)
@click.option("--stage", default="none", show_default=True, help="that the form says at first")
@click.option("--scenario", default="rush", show_default=True, help="that the form says at first")
def ui(port: int, live_port: int, processes: int, host: str, stage: str, scenario: str) -> int:
    """The lab in the browser: choose a stage, press start, watch it live, again and again."""
    from functools import partial

    from lab.ui.run_form import offered
    from lab.ui.server import serve

    return serve(port, host, live_port, processes, partial(offered, stage, scenario))


@lab.command()
@click.argument("name", required=False)
def stages(name: str | None) -> None:
    """List all stages, a line each; with NAME, print the problem, the idea and the claims of one stage."""
    from lab.commands.listing import print_stages

    print_stages(name)


@lab.command()
@click.argument("one")
@click.argument("other", required=False)
def diff(one: str, other: str | None) -> None:
    """What changes between two stages, or between a stage and the one it follows."""
    from lab.commands.listing import print_diff

    print_diff(one, other)


@lab.command()
@click.argument("name", required=False)
def scenarios(name: str | None) -> None:
    """List all scenarios, a line each; with NAME, print the claim, the load and the danger of one scenario."""
    from lab.commands.listing import print_scenarios

    print_scenarios(name)


@lab.command()
@click.argument("run", default="latest")
@click.option("--json", "as_json", is_flag=True, help="print the content of verdict.json and nothing else")
def check(run: str, as_json: bool) -> int:
    """Judge a finished RUN again, from its folder alone."""
    from lab.commands.check import check_again

    return check_again(run, as_json)


@lab.command()
@click.argument("runs", nargs=-1)
@click.option("--out", type=click.Path(path_type=Path), help="where to write it (reports/comparison-<time> unless told)")
def compare(runs: tuple[str, ...], out: Path | None) -> None:
    """Lay two or more RUNS over each other on the same axes, as one page with a table.

    RUNS: each by name, by path, 'latest', or a comparison's folder for all the runs kept in it. Runs of one stage are told
    apart by the parameters in which they differ, else by when they began.
    """
    from lab.commands.report import compare_runs

    compare_runs(runs, out)


@lab.command()
@click.argument("runs", nargs=-1)
@click.option("--out", type=click.Path(path_type=Path), help="where to write a comparison of several runs")
def report(runs: tuple[str, ...], out: Path | None) -> None:
    """Draw a run again (the latest unless told), or a sweep's folder, and write the site of all runs, reports/index.html.

    Of several RUNS it is short for compare.
    """
    from lab.commands.report import report_again

    report_again(runs, out)


@lab.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8088, show_default=True, help="of the site (0: any free one)")
def serve(port: int) -> int:
    """Serve the site of runs, and nothing but reports/, to this machine alone, until Ctrl-C."""
    from lab.ui.static_server import serve as serve_site

    return serve_site(port)


@lab.command()
@click.option("--keep", type=click.IntRange(0), default=20, show_default=True, help="how many of the newest runs stay")
def clean(keep: int) -> None:
    """Remove old runs, and what killed labs left half done."""
    from lab.commands.clean import clean as remove

    gone = remove(keep)
    click.echo(f"removed {len(gone)}; kept the newest {keep}")


@lab.command()
def doctor() -> int:
    """What is installed, which versions, what is missing, how to get it."""
    from lab.prerequisites import examine, missing

    for name, found, remark in examine():
        click.echo(f"{name:18}{found}\n{'':18}{remark}")
    return ExitStatus.CANNOT_RUN if missing() else ExitStatus.GOOD  # a store is missed when a stage that needs it is asked for


@lab.command()
@click.argument("names", nargs=-1)
@click.option("--pairs", type=click.IntRange(3), default=12, show_default=True, help="how many interleaved pairs to measure")
def bench(names: tuple[str, ...], pairs: int) -> int:
    """Measure costs, as ratios: the lab's (locust, journals, live, warm, help, judging, site) and the locks' (locks, waits)."""
    from lab.experiments.benchmark import measure

    return measure(names, pairs)


@lab.command()
@click.option("--most-requests", type=click.IntRange(1), default=500_000, show_default=True, help="no run sends more than this")
@click.option("--out", type=click.Path(path_type=Path), help="where to write growth.json (reports/growth-<time> unless told)")
def growth(most_requests: int, out: Path | None) -> int:
    """Measure what a run costs as requests, users, replicas and Locust processes grow, part by part."""
    from lab.experiments.growth import measure, plan

    return measure(plan(most_requests), _command(), out, lambda point: click.echo(point.line()))


@lab.command()
@click.option(
    "--rerun", multiple=True, metavar="PICTURE", help="first run again what a picture shows (docs/pictures.toml; or all)"
)
@click.option("--begin", metavar="STAGE", help="first write a chapter for a new stage, to be filled in")
def docs(rerun: tuple[str, ...], begin: str | None) -> None:
    """Write the generated parts of the documents, and their pictures, again: from the shelf and reports/reference."""
    from lab.docgen import chapters
    from lab.docgen.generate import write
    from lab.docgen.rerun_figures import rerun as run_again

    if begin:
        click.echo(f"wrote {chapters.begin(begin).name}")
    run_again(rerun, click.echo)
    for path in write():
        click.echo(f"wrote {path.name}")


def _command() -> str:
    return shlex.join(["lab", *sys.argv[1:]])


def main() -> None:
    """The console script: exit status 0 as it should be, 1 broken, 2 bad input, 3 nothing shown, 4 something is missing."""
    try:
        status = lab.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        status = ExitStatus.INTERRUPTED
    except LabError as error:
        click.echo(f"error: {error}", err=True)
        status = error.exit_status
    sys.exit(status or 0)


if __name__ == "__main__":
    main()
