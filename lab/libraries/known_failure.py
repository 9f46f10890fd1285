"""The shelf ``libraries/failures``: a file for each known failure of a published lock, with its record and mostly a stage.

To replay a failure is to make its run, and to state whether the run shows the failure of the report.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape

from app.foreign.library import LIBRARIES, ReportedFailure
from app.lock import Stage
from lab.errors import BadInput, ExitStatus, LabError, MissingPackage, worst
from lab.experiments.runs import child_run
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.language import of_environment
from lab.libraries import environments, shelf
from lab.libraries.listing import print_list
from lab.paths import COMMAND, HOME, REPORTS, need_clone, shown
from lab.report.html import page_of
from lab.report.terminal import terminal
from lab.scenario.options import flags
from lab.story.verdict import because, fact
from lab.text import thousands

FAILURES = LIBRARIES / "failures"
names = partial(shelf.names, FAILURES)  # returns the names of all files of the shelf
PROOF = (Verdict.BROKEN, Verdict.ADMITTED, Verdict.KEPT)  # a run of another verdict shows nothing


class KnownFailure(NamedTuple):
    """One file of the shelf."""

    # the name of the file without ``.py``
    name: str
    path: Path
    failure: ReportedFailure
    # as in the file; None if the failure is not run here
    stage: Stage | None

    @property
    def command(self) -> list[str]:
        """Return the words for `lab run`, which is called in the project's folder."""
        failure = self.failure
        return [failure.scenario, "--stage", self.path.relative_to(HOME).as_posix(), *flags(dict(failure.options))]

    def broken(self, judgement: Judgement) -> Violation | None:
        """Return the broken promise that the file names; None if the run did not break it in that way."""
        fitting = (one for one in judgement.violations if (one.claim, one.mechanism) == (self.failure.breaks, self.failure.by))
        return next(fitting, None)

    def shows(self, judgement: Judgement) -> bool:
        """Return whether a run shows the failure of the report."""
        if judgement.verdict not in PROOF:
            return False
        commands = self.failure.commands
        return judgement.commands_per_increment >= commands if commands else self.broken(judgement) is not None

    def in_words(self, judgement: Judgement) -> str:
        """Return whether a run shows the failure, and a sentence about that run."""
        failure, is_shown = self.failure, "Shown" if self.shows(judgement) else "Not shown"
        if judgement.verdict not in PROOF:
            why = (
                "; ".join(map(fact, judgement.why)) or "the danger was real, and the lock held although it does not promise that"
            )
            return f"{is_shown}: the run came to {judgement.verdict} ({why})."
        if failure.commands:
            taken = f"{thousands(judgement.commands_per_increment)} commands for each increment"
            return f"{is_shown}: {taken}, and at least {thousands(failure.commands)} show it."
        if (broken := self.broken(judgement)) is None:
            return (
                f"{is_shown}: the run came to {judgement.verdict}, and did not break `{failure.breaks}` in the way of the report."
            )
        return f"{is_shown}: {because(broken)}. This breaks `{failure.breaks}`."


def load(name: str) -> KnownFailure:
    """Read one file. Raises BadInput for an unknown name and for a file without records."""
    path, record = shelf.read("known failure", name, FAILURES)
    failure, stage = record.get("FAILURE"), record.get("STAGE")
    if not isinstance(failure, ReportedFailure) or isinstance(stage, Stage) == bool(failure.not_run):
        raise BadInput(f"{path} has no FAILURE = ReportedFailure(…), with a STAGE if and only if it is run")
    return KnownFailure(name, path, failure, stage)


def list_failures(is_json: bool) -> ExitStatus:
    """List all known failures, a line each, or as JSON. Raises BadInput."""
    need_clone()
    rows = [
        (known.name, known.failure.report, known.failure.name, known.failure.scenario if known.stage else "no run")
        for known in map(load, names())
    ]
    print_list(("name", "report", "version", "run"), rows, is_json)
    return ExitStatus.GOOD


def replay_failures(only: Sequence[str]) -> ExitStatus:
    """Replay failures, and print their results. Return the exit status.

    Raises BadInput. After an error in one replay, the next replays still run.
    """
    need_clone()
    console, statuses = terminal(), []
    for known in [load(name) for name in only]:
        try:
            statuses.append(_replayed(known, console))
        except LabError as error:
            if len(only) == 1:
                raise
            sys.stderr.write(f"error: {known.name}: {error}\n")
            statuses.append(error.exit_status)
    return worst(statuses)


def _replayed(known: KnownFailure, console: Console) -> ExitStatus:
    """Make the run of a failure on real servers. Raises MissingPackage, NothingShown."""
    failure = known.failure
    console.print(f"[bold]{known.name}[/]: {escape(failure.report or 'no report')} ({failure.link}), {escape(failure.name)}")
    console.print(escape(failure.what))
    if known.stage is None:
        console.print(f"[bold]Not shown[/]: {escape(failure.not_run)}")
        return ExitStatus.NOTHING_SHOWN
    if known.stage.environment and not environments.is_made(known.stage.environment):
        again = f"{COMMAND} libraries install {known.stage.environment}"
        raise MissingPackage(f"{known.name}: {failure.name} is not installed as its lock file says. Run: {again}")
    console.print(f"{COMMAND} run {' '.join(known.command)}", style="dim")
    judgement = child_run(known.command, HOME)
    console.print(escape(known.in_words(judgement)), style="bold")
    folder = HOME / REPORTS / "runs" / judgement.run
    console.print(f"Look at {shown(folder / page_of(folder, of_environment(os.environ)))}\n", soft_wrap=True)
    return ExitStatus.GOOD if known.shows(judgement) else ExitStatus.NOTHING_SHOWN
