"""Define the command lines of ``lab explore`` and ``lab play``. They import the explorer only when they run."""

from __future__ import annotations

from collections.abc import Callable, Container
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from lab.commands.options import STAGES, Decimal, Whole, out_option, typed_as
from lab.errors import BadInput
from lab.paths import need_clone, new_folder

# the options that change the task of a schedule
OF_A_SCHEDULE = ("clients", "ttl_ms", "work_ms", "wait_ms", "nested", "at_once", "in_turn", "nap_ms", "ends")


def fault_option(name: str, faults: str) -> Callable[[Any], Any]:
    """Return an option of ``lab explore`` for the number of faults of one kind. faults: their name in the help."""
    return click.option(f"--{name}", type=Whole(0, 3), help=f"At most this many {faults}.")


def duration_option(name: str, least_ms: int, text: str) -> Callable[[Any], Any]:
    """Return an option for a duration in milliseconds."""
    return click.option(f"--{name}", type=Whole(least_ms, 60_000), help=text)


def refuse_beside(context: click.Context, option: str, names: Container[str]) -> None:
    """Raise BadInput if the command line has parameters other than these: beside the option they have no effect."""
    typed = [
        parameter
        for parameter in context.command.params
        if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
    ]
    if others := [typed_as(parameter, context).strip("[]") for parameter in typed if parameter.name not in names]:
        raise BadInput(f"{option} does not go with {', '.join(others)}")


@click.command()
@click.argument("stage", required=False, shell_complete=STAGES)
@click.option("--replay", "replayed", metavar="SCHEDULE", help="Run this schedule again, event by event, and decide nothing.")
@click.option("--claim", "only", metavar="NAME", help="Decide this claim only, and print a schedule that breaks it.")
@click.option("--clients", type=Whole(1, 8), help="Number of replicas.  [default: 2, and 3 while there is time]")
@click.option("--in-turn", type=Whole(1, 4), help="Number of requests of each replica, one after the other.  [default: 1, and 2]")
@click.option(
    "--at-once", type=Whole(1, 4), help="Number of requests of each replica at once.  [default: 1, and 2 in one replica]"
)
@click.option("--nested", is_flag=True, help="Each request takes the lock twice: decide `reentrant`.")
@duration_option("ttl-ms", 300, "Time to live of the lock, a multiple of 100.  [default: 3000]")
@duration_option("work-ms", 0, "Duration of the work.  [default: 0, and once longer than the TTL]")
@duration_option("wait-ms", 0, "How long a request waits for the lock.  [default: for ever, and once shorter than the TTL]")
@duration_option("nap-ms", 100, "How long a waiter naps between two tries, at least.  [default: 100; with long work 700]")
@click.option("--ends", is_flag=True, help="Draw fractions near both ends of their range as well.")
@fault_option("pauses", "replicas that are paused and resumed")
@fault_option("crashes", "replicas that are killed")
@fault_option("lost-replies", "commands of which the command or its reply is lost")
@fault_option("resends", "commands that are sent twice, because the reply was lost")
@fault_option("restarts", "restarts of the store without its data")
@fault_option("failures", "requests whose work fails")
@click.option("--servers", type=Whole(2, 7), help="Number of servers that a lock like `redlock` asks.  [default: 5]")
@click.option(
    "--budget",
    "budget_s",
    type=Decimal(0.1, 3600),
    help="Processor seconds for all searches, in each of two processes.  [default: 30; for a lock on several servers 240]",
)
@click.option("--no-confirm", is_flag=True, help="Do not run the schedule of a broken promise on real replicas.")
@click.option("--json", "as_json", is_flag=True, help="Print only the decision, as JSON.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Folder for decision.json; with --replay, a file NAME.svg for the picture of the schedule.",
)
@click.option("--keep", is_flag=True, help="Keep the decision for the documents.")
@click.pass_context
def explore(
    context: click.Context,
    /,
    stage: str | None,
    replayed: str | None,
    only: str | None,
    keep: bool,
    no_confirm: bool,
    out: Path | None,
    **given: Any,
) -> int:
    """Decide every order of commands and faults for a stage.

    The stage's own code runs on a real Redis. STAGE is a name, or the path of your own file. Each promise of the stage holds
    in every order, or the command finds a shortest schedule that breaks it, and runs that on real replicas as well.

    The default searches begin with no fault. They continue with long work, short waits, one fault of each kind, three clients and
    some pairs of faults, while there is time. An option that chooses a search replaces them.

    The exit status is 1 if a promise breaks, 0 if every promise that the searches can decide holds, and 3 otherwise.

    With --replay, one schedule runs from an empty Redis, with as many clients as it names. It is STAGE:EVENTS as the command
    prints it, `lab explore --replay uuid:A4BpAt3000BrAA`. A letter is one command of that replica, a small
    letter one of its other thread. pA pauses A, rA resumes it, kA kills it, lA loses a reply, dA a command, xA sends a command
    twice, w restarts the store, and t3000 lets time pass. The exit status is 1 if a promise breaks, and otherwise 0.
    """
    if replayed is not None:
        refuse_beside(context, "--replay", ("replayed", "out", "servers", *OF_A_SCHEDULE))
        from lab.explore.commands.replay import replay

        return replay(replayed, out, given["servers"], **{name: given[name] for name in OF_A_SCHEDULE})
    from lab.explore.commands.explore import OutputOptions, claim_of, explored
    from lab.explore.commands.explore import explore as run_explore
    from lab.explore.questions import SearchOptions
    from lab.explore.search.event import Budget

    budget_s, servers, as_json = (given.pop(name) for name in ("budget_s", "servers", "as_json"))
    faults = {name: given.pop(name) for name in Budget._fields}
    budget = Budget(**{name: number or 0 for name, number in faults.items()})
    search = SearchOptions(**given, budget=budget if any(number is not None for number in faults.values()) else None)
    if keep:
        need_clone("--keep")
        refuse_beside(context, "--keep", ("keep", "stage", "budget_s", "ttl_ms", "no_confirm"))
    if stage is None:
        raise BadInput("no stage was named; give one, as in `lab explore lua`. `lab list stages` lists the stages.")
    explored_stage = explored(stage)
    into = out and new_folder(str(out), "--out")
    output = OutputOptions(only=claim_of(only, explored_stage), as_json=as_json, out=into, confirm=not no_confirm, keep=keep)
    return run_explore(explored_stage, search, budget_s, output, servers)


@click.command()
@click.argument("stages", nargs=-1)
@out_option("the pages", "play")
@click.option("--open", "open_it", is_flag=True, help="Open the page, if there is a browser.")
def play(stages: tuple[str, ...], out: Path | None, open_it: bool) -> int:
    """Write pages on which you are the scheduler.

    You choose the next event, and try to break a claim. Each move was executed by the stage's own code on a real
    Redis. STAGES are names, by default all stages of the book's levels, or paths of your own files.
    """
    from lab.explore.commands.play import play as write_pages

    return write_pages(stages, out, open_it)
