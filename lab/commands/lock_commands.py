"""The commands for locks of your own, ``lab test`` and ``lab new``, and for published locks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lab.commands.options import Decimal, Whole, out_option
from lab.errors import ExitStatus


@click.command()
@click.argument("lock", required=False)
@click.option("--worker", metavar="COMMAND", help='Command of a program that holds the locks, as in "node my_worker.mjs".')
@click.option("--lanes", type=Whole(0, 1), default=0, help="Lanes of one worker: 1, or 0 for all.  [default: 0]")
@click.option("--claims", metavar="NAMES", help="What the lock promises, where it has no STAGE.  [default: the usual claims]")
@click.option("--scenario", "scenarios", multiple=True, help="Run only this scenario. Can be repeated.")
@click.option("--budget", "budget_s", type=Decimal(0.1), default=10.0, help="Seconds for every order of events.  [default: 10]")
@click.option("--jobs", type=Whole(1, 16), default=2, help="Number of runs at the same time.  [default: 2]")
@click.option("--repeat", type=Whole(1), default=1, help="Number of runs under each scenario.  [default: 1]")
@click.option("--requests", type=Whole(1), help="At most so many requests in each run.  [default: 1000]")
@click.option("--no-draw", is_flag=True, help="Do not draw the runs; runs of several rounds are never drawn.")
@click.option("--speed", "is_speed_wanted", is_flag=True, help="Compare its speed with that of the stage lua.")
@click.option(
    "--junit", type=click.Path(dir_okay=False, writable=True, path_type=Path), metavar="FILE", help="File for JUnit's XML."
)
@click.option(
    "--badge", type=click.Path(dir_okay=False, writable=True, path_type=Path), metavar="FILE.svg", help="File for a badge."
)
@out_option("the page and the schedules", "test-TIME")
def test(**given: Any) -> int:
    """Test a lock of your own, in every order of events and in runs.

    LOCK is a file with a STAGE; or package.module:NAME or file.py:NAME, a class or a function that returns a lock with acquire
    and release. With --worker it is a program in any language. The exit status is 1 if a promise is broken, 3 if nothing was
    shown of one, and otherwise 0.
    """
    from lab.commands.lock_test import LockTest, test_lock

    return test_lock(LockTest(**given))


@click.command()
@click.argument("name")
@click.option("--from", "like", metavar="STAGE", help="Stage to copy.  [default: lua]")
@click.option("--worker", metavar="LANGUAGE", help="Begin a lock in another program: python, node or php.")
def new(name: str, like: str | None, worker: str | None) -> None:
    """Write a lock of your own to begin with, which runs.

    The file is ./NAME.py: a copy of a stage with all its claims, or with --worker a record of a program that holds the locks.
    """
    from lab.commands.new_lock import new_lock

    new_lock(name, like, worker)


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--install", "is_install", is_flag=True, help="Make the environments of NAMES that are missing; without NAMES, all."
)
def libraries(names: tuple[str, ...], is_install: bool) -> None:
    """List the locks of published libraries; with NAMES, only those.

    Each is a file with a STAGE in the folder libraries: `lab run rush --stage libraries/NAME.py` runs it.
    """
    from lab.commands.libraries import install, list_libraries

    if is_install:
        install(names)
    else:
        list_libraries(names)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--rounds", type=Whole(1), default=3, help="Number of runs under each scenario.  [default: 3]")
@click.option("--jobs", type=Whole(1, 16), default=2, help="Number of runs at the same time.  [default: 2]")
@click.option("--resume", is_flag=True, help="Measure only what the folder lacks, or what has changed since.")
@click.option("--scenario", "scenarios", multiple=True, help="Run only this scenario; needs --out. Can be repeated.")
@out_option("the results and the page", "reference/libraries")
def scorecard(**given: Any) -> int:
    """Measure the locks of published libraries.

    NAMES are names of `lab libraries`, by default all. Each lock is tested as `lab test --speed` does, one after the other, and
    what was found is kept as each is done: after an interrupt `--resume` measures the rest. The exit status is 4 if a library was
    left out, because its environment is missing or it could not be measured; it does not say what was found.
    """
    from lab.commands.scorecard import ToMeasure, measure

    return measure(ToMeasure(**given))


@click.command()
@click.argument("names", nargs=-1)
@click.option("--keep", "is_kept", is_flag=True, help="Keep what is seen for docs/known-failures.md; without NAMES, replay all.")
def failures(names: tuple[str, ...], is_kept: bool) -> int:
    """List the known failures of published locks, or replay them.

    Each is a file in the folder libraries/failures, with the version that has it and the run that shows it. With NAMES, the
    command makes these runs on real servers, and states whether they show what the report describes. The exit status is 0 if
    all do, and otherwise 3.
    """
    from lab.commands.failures import list_failures, replay_failures

    if names or is_kept:
        return replay_failures(names, is_kept)
    list_failures()
    return ExitStatus.GOOD
