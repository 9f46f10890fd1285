"""Parse the command line. Each command imports what it needs when it is called, so that --help is quick."""

from __future__ import annotations

import importlib
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from lab.commands.exit_status import attach, final_status, status_of
from lab.commands.options import SCENARIOS, STAGES, Whole, command_line, json_list, scenario_options, shown
from lab.errors import MEANINGS, BadInput, ExitStatus, choose_from
from lab.interrupts import end_with_lab, ignore_signals, raise_on_signals
from lab.scenario.options import OPTIONS
from lab.text import counted

GROUPS = {  # the groups of commands in the help
    "Try": "run up ui class list diff",
    "Compare": "experiment",
    "Every order of events": "explore play",
    "A lock or a counter of your own": "test new count",
    "Published locks": "libraries",
    "Maintain": "check report serve clean doctor",
}
ELSEWHERE = {  # the module of each command that is not in this file
    "experiment": "lab.commands.experiment_commands",
    "explore": "lab.explore.commands.command_line",
    "play": "lab.explore.commands.command_line",
    "test": "lab.own_lock.command_line",
    "new": "lab.own_lock.command_line",
    "count": "lab.count.command_line",
    "libraries": "lab.libraries.command_line",
}
STATUSES = "\n".join(("\b", "Exit statuses:", *(f"  {status:<5}{meaning}" for status, meaning in MEANINGS.items())))


class Commands(click.Group):
    """A group that imports a command when it is called, and lists its commands under titles."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in GROUPS.values() for name in names.split()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> Any:
        module = ELSEWHERE.get(cmd_name)
        return getattr(importlib.import_module(module), cmd_name) if module else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands into the help, each with its first sentence."""
        for title, names in GROUPS.items():
            with formatter.section(title):
                commands = {name: self.get_command(ctx, name) for name in names.split()}
                formatter.write_dl([(name, command.get_short_help_str(formatter.width)) for name, command in commands.items()])


@click.version_option(package_name="lock-lab", prog_name="lab")
@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def lab() -> None:
    """Test distributed locks with real servers and real load.

    The lab shows which lock loses which increment, why, and at what price. `lab run --help` lists the exit statuses;
    docs/running.md explains them.
    """
    try:
        Path.cwd()
    except FileNotFoundError:
        raise BadInput("the current folder was deleted; change to another one") from None


PORT = Whole(0, 65535)
USUAL = "[default: {}, or the next free port]"
json_option = click.option("--json", "as_json", is_flag=True, help="Print only the content of verdict.json.")


def page_options(command: Any) -> Any:
    """Add the options of the commands that serve the lab's page."""
    port = click.option("--port", type=PORT, help=f"Port of the live page; 0 selects a free port.  {USUAL.format(8090)}")
    locust = f"Port of Locust's page; 0 selects a free port.  {USUAL.format(8089)}"
    host = shown("--host", default="127.0.0.1", help="Address to listen on. On a network, all pages ask for a key.")
    return port(click.option("--locust-port", type=PORT, help=locust)(host(command)))


@lab.command(epilog=STATUSES)
@click.argument("scenario", shell_complete=SCENARIOS)
@click.option("--stage", required=True, shell_complete=STAGES, help="Name of a stage, or path of a file with a STAGE.")
@scenario_options()
@click.option("--load", metavar="FILE", help="Your own locustfile drives the run, until its shape ends or --run-time is over.")
@json_option
@click.option("--no-draw", is_flag=True, help="Draw no pictures now; `lab report RUN` draws them later.")
@shown("--engine", default="local", help="Where the servers run: local or docker (see docs/containers.md).")
def run(scenario: str, stage: str, as_json: bool, no_draw: bool, engine: str, **given: Any) -> int:
    """Run one stage under a scenario, judge it, and write a report.

    SCENARIO is a name from `lab list scenarios`, or the path of a file like the files in the folder scenarios. An option that
    you leave out has the scenario's value.
    """
    if choose_from("engine", engine, ("local", "docker")) == "docker":
        from lab.containers.compose import run_there
        from lab.run.environment import commit

        return run_there(scenario, stage, given, as_json, draw=not no_draw, commit=commit())
    from lab.commands.run import run_one

    return run_one(scenario, stage, given, as_json, command=command_line(), draw=not no_draw)


@lab.command()
@click.option("--stage", required=True, shell_complete=STAGES, help="Name of a stage, or path of a file.")
@shown("--scenario", default="rush", shell_complete=SCENARIOS, help="Scenario whose servers and values to use: a name or a file.")
@shown("--port", type=PORT, default=0, help="Port of the address; 0 selects a free port.")
@scenario_options("replicas", *(name for name, option in OPTIONS.items() if option.reaches_replica))
def up(stage: str, scenario: str, port: int, **given: Any) -> int:
    """Keep the servers of a stage up until Ctrl-C.

    The command prints the address, for curl, ab, wrk or locust. An option that you leave out has the scenario's value. No
    fault is injected.
    """
    from lab.commands.up import keep_up

    return keep_up(stage, scenario, port, given)


@lab.command()
@page_options
@shown("--processes", type=Whole(1, 64), default=1, help=OPTIONS["processes"].help)
@shown("--stage", default="none", shell_complete=STAGES, help="Stage that is selected at first.")
@shown("--scenario", default="rush", shell_complete=SCENARIOS, help="Scenario that is selected at first.")
def ui(processes: int, stage: str, scenario: str, **page: Any) -> int:
    """Serve Locust's page and the live page until Ctrl-C.

    Runs are started in the first, and watched in the second.
    """
    from lab.ui.posted import offered
    from lab.ui.server import serve

    return serve(processes=processes, offer=partial(offered, stage, scenario), **page)


@lab.group(name="list")
def list_() -> None:
    """List all stages or all scenarios, or print all about one."""


@list_.command()
@click.argument("name", required=False, shell_complete=STAGES)
@json_list
def stages(name: str | None, as_json: bool) -> None:
    """List all stages, one line for each.

    With NAME, print the problem, the idea and the claims of one stage.
    """
    from lab.commands.listing import print_stages

    print_stages(name, as_json)


@lab.command()
@click.argument("one", shell_complete=STAGES)
@click.argument("other", required=False, shell_complete=STAGES)
def diff(one: str, other: str | None) -> None:
    """Show the difference between two stages.

    ONE is the old stage, and OTHER is the new stage. With ONE alone, ONE is the new stage, and the stage that it
    follows is the old stage. The stage none follows no stage.
    """
    from lab.commands.listing import print_diff

    print_diff(one, other)


@list_.command()
@click.argument("name", required=False, shell_complete=SCENARIOS)
@json_list
def scenarios(name: str | None, as_json: bool) -> None:
    """List all scenarios, one line for each.

    With NAME, print the claim, the load and the danger of one scenario. The danger is the least that must have happened in
    a run for a pass to count.
    """
    from lab.commands.listing import print_scenarios

    print_scenarios(name, as_json)


@lab.command(epilog=STATUSES)
@click.argument("run", default="latest")
@json_option
def check(run: str, as_json: bool) -> int:
    """Judge a finished run again, from its folder alone.

    RUN is a name, a path, or `latest`.
    """
    from lab.commands.check import check_again

    return check_again(run, as_json)


@lab.command()
@click.argument("run", default="latest")
@click.option("--lang", type=click.Choice(["en", "zh"]), help="Draw a run in this language as well; by default, that of LANG.")
def report(run: str, lang: str | None) -> None:
    """Draw a run or an experiment again, and write the site of all runs.

    RUN is a name, a path, `latest`, or the folder of an experiment.
    """
    from lab.commands.report import report_again

    report_again(run, lang)


@lab.command()
@shown("--port", type=PORT, default=8088, help="Port of the site; 0 selects a free port.")
def serve(port: int) -> int:
    """Serve the site of all runs to this machine until Ctrl-C.

    The command serves only the folder of the runs.
    """
    from lab.ui.static_server import serve as serve_site

    return serve_site(port)


@lab.command()
@shown("--keep", type=Whole(0), default=20, help="Number of newest runs to keep.")
def clean(keep: int) -> None:
    """Remove old runs.

    The command also removes all failed runs, and unfinished folders of a lab that was killed.
    """
    from lab.commands.clean import clean as remove

    click.echo(f"removed {counted(len(remove(keep)), 'folder')}; kept at most the newest {counted(keep, 'run')}")


STORES = "Install the servers that locks in STORE need: redis (the default), mysql, postgresql, etcd or zookeeper."


@lab.command()
@click.option("--install", is_flag=False, flag_value="redis", metavar="[STORE]", help=STORES)
@json_list
def doctor(install: str | None, as_json: bool) -> int:
    """List installed programs, and how to install missing programs."""
    from lab.commands.doctor import install_servers, list_programs

    if install is None:
        return list_programs(as_json)
    install_servers(install)
    return ExitStatus.GOOD


@lab.command(name="class")
@shown("--from", "step", type=Whole(1), default=1, help="Number of the step to begin with.")
@page_options
def give_class(step: int, **page: Any) -> int:
    """Give a lesson of 45 minutes in the browser, step by step.

    It is the live page of `lab ui`, opened on the lesson of docs/class.md. With --host 0.0.0.0, the class predicts on phones.
    """
    from lab.paths import need_clone
    from lab.ui.lesson import write_levels
    from lab.ui.server import serve

    need_clone()
    write_levels()
    return serve(step=step, **page)


def main() -> None:
    """Run the command line and end with its exit status (``ExitStatus``)."""
    if any(name.endswith("LAB_COMPLETE") for name in os.environ):
        lab()  # a shell requests the completions of a word: click prints them, and ends
    end_with_lab()
    output = attach()
    raise_on_signals()
    status = status_of(lab)
    ignore_signals()  # the work is done: a signal that comes while Python ends must not turn its status into "killed"
    sys.exit(final_status(output, status))
