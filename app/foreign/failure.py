"""A known failure of a published lock: who reported it, which version has it, and the run that shows it."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from app.foreign.environment import LIBRARIES
from app.foreign.library import PublishedLock
from app.lock import Stage


@dataclass(frozen=True, kw_only=True)
class ReportedFailure(PublishedLock):
    """The record of a file in ``libraries/failures/``. Its promises are in the words of the documentation, or of the report."""

    # as its tracker names it; a link alone where no report was found
    report: str = ""
    # where it was reported; where it was not, the code that has it
    link: str
    # what goes wrong, as one sentence
    what: str
    # a scenario of the lab, and its options that the run changes
    scenario: str = ""
    options: Mapping[str, int] = field(default_factory=dict)
    # the claim that the run breaks, and the mechanism, by their names
    breaks: str = ""
    by: str = ""
    # in place of a broken claim: an increment takes at least so many commands
    commands: int = 0
    # why there is no run; empty where there is one
    not_run: str = ""

    def stage_like(self, name: str) -> Stage:
        """Return the stage of a file of ``libraries/`` with the claims of this failure."""
        path = LIBRARIES / f"{name}.py"
        stage: Stage = runpy.run_path(str(path))["STAGE"]
        worker = tuple(str(LIBRARIES / word) if (LIBRARIES / word).exists() else word for word in stage.worker)
        return replace(stage, worker=worker, claims=self.claims, library=self.name, path=path)
