"""``lab libraries``: list the locks of published libraries, and make the environments that they need."""

from __future__ import annotations

import sys

from rich.table import Table

from lab.errors import MissingPackage, choose_from
from lab.libraries import environments
from lab.libraries.shelf import load, names
from lab.paths import need_clone
from lab.report.terminal import terminal


def list_libraries(only: tuple[str, ...]) -> None:
    """List the locks of libraries of these names, a line each; all where none is named. Raises BadInput."""
    need_clone()
    console = terminal()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("name", "version", "language", "promises", "installed"):
        table.add_column(title, no_wrap=True)
    missing = 0
    for name in [choose_from("library", one, names()) for one in only] or names():
        lock = load(name)
        place = lock.stage.environment
        is_here = not place or environments.is_made(place)
        missing += not is_here
        about = lock.library
        table.add_row(name, about.version, about.language, str(len(about.promises)), "yes" if is_here else "no")
    console.print(table)
    if missing:
        console.print(f"make libraries installs the {missing} that are not there.", style="dim")


def install(only: tuple[str, ...]) -> None:
    """Make environments that are not as their lock files say; all where none is named. Raises BadInput, MissingPackage.

    only: names of locks, or of environments. An environment that cannot be made keeps none of the others from being made.
    """
    need_clone()
    known = environments.names()
    of_locks = dict.fromkeys(names())
    failures = []
    chosen = [choose_from("library", one, (*of_locks, *known)) for one in only]
    needed = [load(one).stage.environment if one in of_locks else one for one in chosen]
    for name in dict.fromkeys(filter(None, needed)) if only else known:
        if not environments.is_made(name):
            sys.stderr.write(f"Making the environment {name}\n")
            try:
                environments.make(name)
            except MissingPackage as error:
                failures.append(str(error))
    if failures:
        raise MissingPackage("\n".join(failures))
