"""The shelf ``libraries/failures``: a file for each known failure of a published lock, with its record and mostly a stage.

To replay one is to make its run, and to state whether it shows what the report describes: as a sentence on the terminal, and
as a row in the table of docs/known-failures.md.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from app.foreign.environment import LIBRARIES
from app.foreign.failure import ReportedFailure
from app.lock import Stage
from lab.errors import BadInput, MissingPackage
from lab.evidence.record_lines import read_lines, write_line
from lab.experiments.runs import child_run
from lab.judge.fact import Fact
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.libraries import environments, shelf
from lab.paths import COMMAND, HOME, REFERENCE
from lab.scenario.options import flags
from lab.story.verdict import because, fact
from lab.text import thousands

FAILURES = LIBRARIES / "failures"
names = partial(shelf.names, FAILURES)  # of all files of the shelf
KEPT = REFERENCE / "failures.jsonl"
PROOF = (Verdict.BROKEN, Verdict.ADMITTED, Verdict.KEPT)  # a run of another verdict shows nothing
OF_THE_RUN = ("run", "verdict", "why", "requests", "acknowledged", "lost", "commands_per_increment")


class KnownFailure(NamedTuple):
    """One file of the shelf."""

    # the name of the file without ``.py``
    name: str
    path: Path
    failure: ReportedFailure
    # as the file has it; None where the failure is not run here
    stage: Stage | None

    @property
    def fingerprint(self) -> str:
        """Return a hash of what the run depends on: a result that is kept belongs to it. Empty where there is no run."""
        return shelf.fingerprint(self.path, self.stage) if self.stage else ""


def load(name: str) -> KnownFailure:
    """Read one file. Raises BadInput for an unknown name and for a file without records."""
    path, record = shelf.read("known failure", name, FAILURES)
    failure, stage = record.get("FAILURE"), record.get("STAGE")
    if not isinstance(failure, ReportedFailure) or isinstance(stage, Stage) == bool(failure.not_run):
        raise BadInput(f"{path} has no FAILURE = ReportedFailure(…), with a STAGE if and only if it is run")
    return KnownFailure(name, path, failure, stage)


class Replayed(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the run of a known failure showed. Kept as a line of ``reports/reference/failures.jsonl``."""

    # of the failure's file and all that its run needs
    fingerprint: str
    # the name of the run
    run: str
    verdict: Verdict
    # why the run proves nothing, where it does not
    why: list[Fact]
    requests: int
    acknowledged: int
    lost: int
    commands_per_increment: float
    # the broken promise that the file names; None where the run did not break it in that way
    violation: Violation | None = None

    def shows(self, known: KnownFailure) -> bool:
        """Return whether the run shows what the report describes."""
        if self.verdict not in PROOF:
            return False
        if known.failure.commands:
            return self.commands_per_increment >= known.failure.commands
        return self.violation is not None


def command(known: KnownFailure) -> list[str]:
    """Return the words for `lab run`, which is called in the project's folder."""
    failure = known.failure
    return [failure.scenario, "--stage", known.path.relative_to(HOME).as_posix(), *flags(dict(failure.options))]


def replay(known: KnownFailure) -> Replayed:
    """Make the run of a failure on real servers. Raises BadInput where it has none, MissingPackage, NothingShown."""
    failure, stage = known.failure, known.stage
    if stage is None:
        raise BadInput(f"{known.name} cannot be replayed: {failure.not_run}")
    if stage.environment and not environments.is_made(stage.environment):
        again = f"{COMMAND} libraries --install {stage.environment}"
        raise MissingPackage(f"{known.name}: {failure.name} is not installed as its lock file says. Run: {again}")
    judgement = child_run(command(known), HOME)
    figures = {name: getattr(judgement, name) for name in OF_THE_RUN}
    return Replayed(fingerprint=known.fingerprint, violation=_expected(known, judgement), **figures)


def _expected(known: KnownFailure, judgement: Judgement) -> Violation | None:
    """Return the broken promise that the file names, without the examples, which are in the run."""
    failure = known.failure
    fitting = (one for one in judgement.violations if one.claim == failure.breaks and one.mechanism == failure.by)
    found = next(fitting, None)
    return found and msgspec.structs.replace(found, evidence=[])


def keep(known: KnownFailure, replayed: Replayed) -> Path:
    """Keep a result for the documents. Return the file."""
    write_line(KEPT, known.name, msgspec.json.encode(replayed))
    return KEPT


def kept(known: KnownFailure) -> Replayed | None:
    """Return what is kept of a failure; None if nothing is, or its file has changed since. Raises msgspec's errors."""
    record = read_lines(KEPT).get(known.name)
    found = msgspec.json.decode(record, type=Replayed) if record else None
    return found if found and found.fingerprint == known.fingerprint else None


def in_words(known: KnownFailure, found: Replayed) -> str:
    """Return whether a run shows a failure, and what was seen."""
    failure = known.failure
    if found.verdict not in PROOF:
        why = "; ".join(map(fact, found.why)) or "the danger was real, and the lock held although it does not promise that"
        return f"Not shown: the run came to {found.verdict} ({why})."
    if failure.commands:
        taken = f"{thousands(found.commands_per_increment)} commands for each increment"
        return f"{'Shown' if found.shows(known) else 'Not shown'}: {taken}, and at least {thousands(failure.commands)} show it."
    if found.violation is None:
        return f"Not shown: the run came to {found.verdict}, and did not break `{failure.breaks}` in the way of the report."
    return f"Shown: {because(found.violation)}. This breaks `{failure.breaks}`{_by_whom(known)}."


def _by_whom(known: KnownFailure) -> str:
    """Return who states the claim that breaks."""
    failure = known.failure
    if failure.is_documented:
        return ", which the documentation promises"
    return ", which the report asks for" if failure.breaks in failure.promises else ", which nothing promises"
