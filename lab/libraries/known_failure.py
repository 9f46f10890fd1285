"""Replay a known failure of a published lock: make its run, and state whether it shows what the report describes.

A sentence states it on the terminal, and a row in the table of docs/known-failures.md.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from lab.errors import BadInput, MissingPackage
from lab.evidence.record_lines import read_lines, write_line
from lab.experiments.runs import child_run
from lab.judge.fact import Fact
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.libraries import environments
from lab.libraries import shelf as libraries
from lab.libraries.failures import KnownFailure
from lab.paths import COMMAND, HOME, REFERENCE
from lab.scenario.options import flags
from lab.story.verdict import because, fact
from lab.text import thousands

KEPT = REFERENCE / "failures.jsonl"
PROOF = (Verdict.BROKEN, Verdict.ADMITTED, Verdict.KEPT)  # a run of another verdict shows nothing


OF_THE_RUN = ("run", "verdict", "why", "requests", "acknowledged", "lost", "commands_per_increment")


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
    # of the lock next to it, where one is named; None where that run proves nothing
    commands_compared: float | None = None

    def shows(self, known: KnownFailure) -> bool:
        """Return whether the run shows what the report describes."""
        if self.verdict not in PROOF:
            return False
        if compared := known.failure.compared:
            return bool(self.commands_compared) and self.commands_per_increment >= compared.times * (self.commands_compared or 0)
        return self.violation is not None


def command(known: KnownFailure, stage: Path | None = None) -> list[str]:
    """Return the words for `lab run`, which is called in the project's folder. stage: the file of another lock."""
    failure = known.failure
    path = stage or known.path
    return [failure.scenario, "--stage", path.relative_to(HOME).as_posix(), *flags(dict(failure.options))]


def replay(known: KnownFailure) -> Replayed:
    """Make the run of a failure on real servers. Raises BadInput where it has none, MissingPackage, NothingShown."""
    failure, stage = known.failure, known.stage
    if stage is None:
        raise BadInput(f"{known.name} cannot be replayed: {failure.not_run}")
    if stage.environment and not environments.is_made(stage.environment):
        again = f"{COMMAND} libraries --install {stage.environment}"
        raise MissingPackage(f"{known.name}: {failure.name} is not installed as its lock file says. Run: {again}")
    judgement = child_run(command(known), HOME)
    compared = None
    if failure.compared:
        other = child_run(command(known, libraries.load(failure.compared.library).path), HOME)
        compared = other.commands_per_increment if other.verdict in PROOF else None
    figures = {name: getattr(judgement, name) for name in OF_THE_RUN}
    violation = _expected(known, judgement)
    return Replayed(fingerprint=known.fingerprint, violation=violation, commands_compared=compared, **figures)


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
    if failure.compared:
        here = f"{thousands(found.commands_per_increment)} commands for each increment"
        other = libraries.load(failure.compared.library).library.name
        there = (
            f"and {thousands(found.commands_compared)} with {other}" if found.commands_compared else f"and none seen with {other}"
        )
        return f"{'Shown' if found.shows(known) else 'Not shown'}: {here}, {there}."
    if found.violation is None:
        return f"Not shown: the run came to {found.verdict}, and did not break `{failure.breaks}` in the way of the report."
    return f"Shown: {because(found.violation)}. This breaks `{failure.breaks}`{_by_whom(known)}."


def _by_whom(known: KnownFailure) -> str:
    """Return who states the claim that breaks."""
    failure = known.failure
    if failure.is_documented:
        return ", which the documentation promises"
    return ", which the report asks for" if failure.breaks in failure.promises else ", which nothing promises"
