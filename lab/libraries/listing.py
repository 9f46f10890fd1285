"""``lab libraries``: list the locks of published libraries, and make the environments that they need."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.table import Table

from lab.errors import MissingPackage, choose_from
from lab.evidence.run_folder import as_json
from lab.libraries import environments
from lab.libraries.shelf import load, names
from lab.paths import need_clone
from lab.report.terminal import terminal


def print_list(columns: Sequence[str], rows: Sequence[Sequence[str]], is_json: bool) -> None:
    """Print a list as a table, or as JSON. columns: the name of each cell of a row; the first is not broken into lines."""
    if is_json:
        sys.stdout.write(as_json([dict(zip(columns, row, strict=True)) for row in rows]))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, title in enumerate(columns):
        table.add_column(title, no_wrap=number == 0)
    for row in rows:
        table.add_row(*row)
    terminal().print(table)


def list_libraries(is_json: bool) -> None:
    """List the locks of libraries, a line each, or as JSON."""
    need_clone()
    rows = []
    for lock in map(load, names()):
        is_here = not lock.stage.environment or environments.is_made(lock.stage.environment)
        about = lock.library
        rows.append((lock.name, about.version, about.language, str(len(about.promises)), "yes" if is_here else "no"))
    print_list(("name", "version", "language", "promises", "installed"), rows, is_json)


def install(only: tuple[str, ...]) -> None:
    """Make environments that differ from their lock files; all if none is named. Raises BadInput, MissingPackage.

    only: names of locks, or of environments. After an environment that cannot be made, the next ones are still made.
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
