"""The command lines of ``lab libraries``, ``lab scorecard`` and ``lab failures``."""

from __future__ import annotations

from typing import Any

import click

from lab.commands.options import Whole, out_option


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--install", "is_install", is_flag=True, help="Make the environments of NAMES that are missing; without NAMES, all."
)
def libraries(names: tuple[str, ...], is_install: bool) -> None:
    """List the locks of published libraries; with NAMES, only those.

    Each is a file with a STAGE in the folder libraries: `lab run rush --stage libraries/NAME.py` runs it.
    """
    from lab.libraries.listing import install, list_libraries

    if is_install:
        install(names)
    else:
        list_libraries(names)


@click.command()
@click.argument("names", nargs=-1)
@click.option("--rounds", type=Whole(1), default=3, help="Number of runs under each scenario.  [default: 3]")
@click.option("--jobs", type=Whole(1, 16), default=2, help="Number of runs at the same time.  [default: 2]")
@click.option("--scenario", "scenarios", multiple=True, help="Run only this scenario; needs --out. Can be repeated.")
@out_option("the results and the page", "reference/libraries")
def scorecard(**given: Any) -> int:
    """Measure the locks of published libraries.

    NAMES are names of `lab libraries`, by default all. Each lock is tested as `lab test --speed` does, one after the other, and
    what was found is kept as each is done: after an interrupt it names the rest. The exit status is 4 if a library was
    left out, because its environment is missing or it could not be measured; it does not say what was found.
    """
    from lab.libraries.measure import measure

    return measure(**given)


@click.command()
@click.argument("names", nargs=-1)
def failures(names: tuple[str, ...]) -> int:
    """List the known failures of published locks, or replay them.

    Each is a file in the folder libraries/failures, with the version that has it and the run that shows it. With NAMES, the
    command makes these runs on real servers, and states whether they show what the report describes. The exit status is 0 if
    all do, and otherwise 3.
    """
    from lab.libraries.known_failure import list_failures, replay_failures

    return replay_failures(names) if names else list_failures()
