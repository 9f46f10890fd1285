"""The shelf ``libraries/failures``: a file for each known failure of a published lock, with its record and mostly a stage."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from app.foreign.environment import LIBRARIES
from app.foreign.failure import ReportedFailure
from app.lock import Stage
from lab.errors import BadInput, choose_from
from lab.libraries.shelf import fingerprint
from lab.own_lock.stage_module import module_in

FAILURES = LIBRARIES / "failures"


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
        return fingerprint(self.path, self.stage) if self.stage else ""


def names() -> list[str]:
    """Return the names of all files of the shelf; none where the lab is installed without it."""
    return sorted(path.stem for path in FAILURES.glob("*.py"))


def load(name: str) -> KnownFailure:
    """Read one file; its library need not be installed. Raises BadInput for an unknown name and for a file without records."""
    path = FAILURES / f"{choose_from('known failure', name, names())}.py"
    module = module_in(path)
    failure, stage = getattr(module, "FAILURE", None), getattr(module, "STAGE", None)
    if not isinstance(failure, ReportedFailure) or isinstance(stage, Stage) == bool(failure.not_run):
        raise BadInput(f"{path} has no FAILURE = ReportedFailure(…), with a STAGE if and only if it is run")
    return KnownFailure(name, path, failure, stage)
