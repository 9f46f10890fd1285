"""The command lines of ``lab explore``, ``lab replay`` and ``lab play``. They import the explorer when they are called."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from lab.commands.out_option import out_option
from lab.errors import BadInput, choose_from
from lab.paths import new_folder

SERVERS = click.IntRange(2, 7)


def fault_option(name: str, what: str) -> Callable[[Any], Any]:
    """Add an option of ``lab explore`` for the number of faults of one kind."""
    return click.option(f"--{name}", type=click.IntRange(0, 3), help=f"At most this many {what}.")


@click.command()
@click.argument("stage", required=False)
@click.option(
    "--clients",
    type=click.IntRange(2, 4),
    default=2,
    show_default=True,
    help="Number of replicas; each does one increment.",
)
@click.option("--claim", "only", metavar="NAME", help="Report this claim only.")
@click.option(
    "--work-ms", type=click.IntRange(0, 60_000), help="Duration of the work.  [default: 0, and once longer than the TTL]"
)
@click.option("--ttl-ms", type=click.IntRange(300, 60_000), help="Time to live of the lock, a multiple of 100.  [default: 3000]")
@fault_option("pauses", "replicas that are paused and resumed")
@fault_option("crashes", "replicas that are killed")
@fault_option("lost-replies", "commands of which the command or its reply is lost")
@fault_option("resends", "commands that are sent twice, because the reply was lost")
@fault_option("restarts", "restarts of the store without its data")
@click.option(
    "--budget",
    "budget_s",
    type=click.FloatRange(0.1, 3600),
    help="Seconds after which no new state is looked at.  [default: 30; for a lock on several servers 120]",
)
@click.option("--nested", is_flag=True, help="Each request takes the lock twice: decide `reentrant`.")
@click.option("--servers", type=SERVERS, help="Number of servers that a lock like `redlock` asks.  [default: 5]")
@click.option("--json", "as_json", is_flag=True, help="Print only the decision, as JSON.")
@out_option("decision.json, and for each claim that breaks a file with its shortest schedule")
@click.option("--keep", is_flag=True, help="Keep the decision for the documents; without STAGE, decide and keep all stages.")
@click.option(
    "--scenario",
    "scenarios",
    callback=lambda _, option, value: value and new_folder(value, "--scenario"),
    metavar="PATH",
    help="Folder for the schedules as scenarios, as far as a failpoint can express them.",
)
def explore(
    stage: str | None, only: str | None, budget_s: float | None, as_json: bool, keep: bool, scenarios: Path | None, **given: Any
) -> int:
    """Decide every order of commands and faults for a stage.

    The stage's own code runs on a real Redis. STAGE is a name, or the path of your own file. For each claim the command
    reports that it holds in all schedules, or a shortest schedule that breaks it. Without an option for faults, it begins
    with no fault. It goes on with work that outlasts the TTL, one fault of each kind, and pairs, while there is time.
    """
    from app.lock import Claim
    from lab.commands.explore import explore as run_explore
    from lab.commands.explore_scenarios import write_scenarios
    from lab.commands.keep_decisions import keep_decisions
    from lab.explore.budget import Budget

    if keep:
        if scenarios or as_json or only or any(value for name, value in given.items() if name != "clients"):
            raise BadInput("--keep decides with the default faults, work and TTL: give no other option than --budget")
        return keep_decisions(stage, budget_s)
    if stage is None:
        raise click.MissingParameter(param_type="argument", param_hint="STAGE")
    if only is not None:
        choose_from("claim", only, [claim.name for claim in Claim])
    faults = {name: given.pop(name) for name in Budget._fields}
    budget = (
        Budget(**{name: number or 0 for name, number in faults.items()})
        if any(one is not None for one in faults.values())
        else None
    )
    then = partial(write_scenarios, clients=given["clients"], folder=scenarios) if scenarios else None
    return run_explore(stage, budget=budget, budget_s=budget_s, only=only, as_json=as_json, then=then, **given)


@click.command()
@click.argument("schedule")
@click.option("--work-ms", type=click.IntRange(0, 60_000), help="Duration of the work.  [default: 0]")
@click.option("--ttl-ms", type=click.IntRange(300, 60_000), help="Time to live of the lock.  [default: 3000]")
@click.option(
    "--clients", type=click.IntRange(2, 4), help="Number of clients.  [default: as many as the schedule names, at least 2]"
)
@click.option("--nested", is_flag=True, help="Each request takes the lock twice.")
@click.option("--servers", type=SERVERS, help="Number of servers that a lock like `redlock` asks.  [default: 5]")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.svg", help="Draw the schedule into a file.")
@click.option(
    "--cluster", "on_cluster", is_flag=True, help="Run it on real replicas as well, command by command, and judge the run."
)
def replay(schedule: str, out: Path | None, on_cluster: bool, **given: Any) -> int:
    """Run one schedule again, event by event, from an empty Redis.

    SCHEDULE is STAGE:EVENTS as `lab explore` prints it, `lab replay uuid:A4BpAt3000BrAA`, or a file of `lab explore --out`.
    A letter is one command of that replica, a small letter one of its other thread. pA pauses A, rA resumes it, kA kills it,
    lA loses a reply, dA a command, xA sends a command twice, w restarts the store, and t3000 lets time pass.

    With --cluster the same happens to real replicas, and the judge judges that run. There, a folder of `lab explore --out`
    can be given as well: all its schedules are run, and each line states whether both saw the same.
    """
    from lab.commands.replay import replay as run_replay

    return run_replay(schedule, out=out, on_cluster=on_cluster, **given)


@click.command()
@click.argument("stages", nargs=-1)
@out_option("the pages", "play")
@click.option("--open", "open_it", is_flag=True, help="Open the page, where there is a browser.")
def play(stages: tuple[str, ...], out: Path | None, open_it: bool) -> int:
    """Write pages on which you are the scheduler.

    You decide what happens next, and try to break a claim. Each move was executed by the stage's own code on a real
    Redis. STAGES are names, by default all stages of the kept levels, or paths of your own files.
    """
    from lab.commands.play import play as write_pages

    return write_pages(stages, out, open_it)
