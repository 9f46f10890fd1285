"""The command lines of ``lab test`` and ``lab new``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lab.commands.options import Decimal, Whole, out_option


@click.command()
@click.argument("lock")
@click.option("--claims", metavar="NAMES", help="Promises of the lock, if no file lists them yet.  [default: the usual claims]")
@click.option(
    "--declaration",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.py",
    help="File that says how the lock is used. It is written if it is not there.  [default: ./lab_NAME.py]",
)
@click.option("--scenario", "scenarios", multiple=True, help="Run only this scenario. Can be repeated.")
@click.option("--budget", "budget_s", type=Decimal(0.1), default=10.0, help="Seconds for every order of events.  [default: 10]")
@click.option("--jobs", type=Whole(1, 16), default=2, help="Number of runs at the same time.  [default: 2]")
@click.option("--repeat", type=Whole(1), default=1, help="Number of runs under each scenario.  [default: 1]")
@click.option("--requests", type=Whole(1), help="At most this many requests in each run.  [default: 1000]")
@click.option("--no-draw", is_flag=True, help="Do not draw the runs; runs of several rounds are never drawn.")
@click.option("--speed", "is_speed_wanted", is_flag=True, help="Compare its speed with that of the stage lua.")
@click.option(
    "--junit", type=click.Path(dir_okay=False, writable=True, path_type=Path), metavar="FILE", help="File for JUnit's XML."
)
@out_option("the page and the schedules", "test-TIME")
def test(lock: str, claims: str | None, declaration: Path | None, **given: Any) -> int:
    """Test a lock of your own, in every order of events and in runs.

    LOCK is a file with a STAGE; or package.module:NAME or file.py:NAME, a class or a function. For a class or a function, a small
    file is written into the current folder, which says how it is used, and that file is tested. For another language, begin with
    `lab new`. The exit status is 1 if a promise is broken, 3 if nothing was shown about one, and otherwise 0.
    """
    from lab.own_lock.declaration import stage_of

    stage = stage_of(lock, claims, declaration)  # first: a question is asked at once, and the rest takes longer to import
    from lab.own_lock.lock_test import LockTest, test_lock

    return test_lock(LockTest(lock, stage, **given))


@click.command()
@click.argument("name")
@click.option("--worker", metavar="LANGUAGE", default="python", help="Its language: python, node or php.  [default: python]")
def new(name: str, worker: str) -> None:
    """Write a lock of your own in another program to begin with, which runs.

    ./NAME.py is the record of a program that holds the locks. A lock of this Python needs none: `lab test module:NAME`.
    """
    from lab.commands.new import new_lock

    new_lock(name, worker)
