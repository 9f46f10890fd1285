"""``lab failures``: list the known failures of published locks, or replay them on real servers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.errors import ExitStatus, LabError, worst
from lab.language import of_environment
from lab.libraries import known_failure
from lab.libraries.known_failure import KnownFailure, command, in_words, kept, load, names, replay
from lab.paths import COMMAND, HOME, REPORTS, need_clone, shown
from lab.report.run_index import page_of
from lab.report.terminal import terminal


def list_failures() -> None:
    """List all known failures, a line each. Raises BadInput."""
    need_clone()
    console = terminal()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("name", "report", "version", "shown"):
        table.add_column(title, no_wrap=title in ("name", "shown"))
    for known in map(load, names()):
        found = kept(known) if known.stage else None
        state = "no run" if known.stage is None else "not replayed" if found is None else "yes" if found.shows(known) else "no"
        table.add_row(known.name, known.failure.report, known.failure.name, state)
    console.print(table)


def replay_failures(only: Sequence[str], is_kept: bool) -> ExitStatus:
    """Replay failures; all that have a run where none is named. Return the exit status.

    Raises BadInput. An error of one of several keeps none of the others from being replayed.
    """
    need_clone()
    chosen = [load(name) for name in only] or [known for known in map(load, names()) if known.stage]
    console = terminal()
    statuses = []
    for known in chosen:
        try:
            statuses.append(_replayed(known, is_kept, console))
        except LabError as error:
            if len(chosen) == 1:
                raise
            sys.stderr.write(f"error: {known.name}: {error}\n")
            statuses.append(error.exit_status)
    return worst(statuses)


def _replayed(known: KnownFailure, is_kept: bool, console: Console) -> ExitStatus:
    failure = known.failure
    console.print(f"[bold]{known.name}[/]: {escape(failure.report or 'no report')} ({failure.link}), {escape(failure.name)}")
    console.print(escape(failure.what))
    if known.stage is None:
        console.print(f"[bold]Not shown[/]: {escape(failure.not_run)}")
        return ExitStatus.NOTHING_SHOWN
    console.print(f"{COMMAND} run {' '.join(command(known))}", style="dim")
    found = replay(known)
    console.print(escape(in_words(known, found)), style="bold")
    folder = HOME / REPORTS / "runs" / found.run
    console.print(f"Look at {shown(folder / page_of(folder, of_environment(os.environ)))}\n", soft_wrap=True)
    if is_kept:
        console.print(f"kept {shown(known_failure.keep(known, found))}\n")
    return ExitStatus.GOOD if found.shows(known) else ExitStatus.NOTHING_SHOWN
