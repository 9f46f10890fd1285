"""The command lines of ``lab libraries``: list, install and measure the locks, and replay their known failures."""

from __future__ import annotations

from typing import Any

import click

from lab.commands.options import Whole, is_listing, json_list, out_option


@click.group(invoke_without_command=True)
@json_list
@click.pass_context
def libraries(context: click.Context, as_json: bool) -> None:
    """List, install or measure the locks of published libraries.

    Each is a file with a STAGE in the folder libraries: `lab run rush --stage libraries/NAME.py` runs it.
    """
    if is_listing(context, as_json):
        from lab.libraries.listing import list_libraries

        list_libraries(as_json)


@libraries.command()
@click.argument("names", nargs=-1)
def install(names: tuple[str, ...]) -> None:
    """Make the environments of libraries that are missing.

    NAMES are names of `lab libraries` or of environments, by default all.
    """
    from lab.libraries.listing import install as make_environments

    make_environments(names)


@libraries.command()
@click.argument("names", nargs=-1)
@click.option("--rounds", type=Whole(1), default=3, help="Number of runs under each scenario.  [default: 3]")
@click.option("--jobs", type=Whole(1, 16), default=2, help="Number of runs at the same time.  [default: 2]")
@click.option("--scenario", "scenarios", multiple=True, help="Run only this scenario; needs --out. Can be repeated.")
@out_option("the results and the page", "reference/libraries")
def measure(**given: Any) -> int:
    """Measure the locks of libraries, and write the scorecard.

    NAMES are names of `lab libraries`, by default all. The locks are tested one after another, as `lab test --speed` does, and
    each result is kept at once: after an interrupt the command names the rest. The exit status is 4 if a library was
    left out, because its environment is missing or it could not be measured; it does not depend on the results.
    """
    from lab.libraries.measure import measure as measure_libraries

    return measure_libraries(**given)


@libraries.command()
@click.argument("names", nargs=-1)
@json_list
def failures(names: tuple[str, ...], as_json: bool) -> int:
    """List the known failures of libraries, or replay them.

    Each is a file in the folder libraries/failures, with the version that has it and the run that shows it. With NAMES, the
    command makes these runs on real servers, and states whether each shows the reported failure. The exit status is 0 if
    all do, and otherwise 3.
    """
    from lab.libraries.known_failure import list_failures, replay_failures

    return replay_failures(names) if names else list_failures(as_json)
