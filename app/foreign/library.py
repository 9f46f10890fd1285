"""Record a published lock: its version, the promises of its documentation, word for word, or a known failure.

Its packages are in an environment of their own, in the versions of its lock file. ``make libraries`` makes the environments.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from app.lock import Claim, NotInstalled, Stage

LIBRARIES = Path(__file__).parents[2] / "libraries"
MADE = LIBRARIES / ".environments"
# the scenarios in which every library is tested, whatever it promises: load, a crash, a slow holder, a release, long work
ALL = ("rush", "holder_crash", "slow_holder", "release_race", "work_outlasts_ttl")


class Quote(NamedTuple):
    """A sentence of the documentation, word for word, with its address."""

    words: str
    link: str


@dataclass(frozen=True, kw_only=True)
class PublishedLock:
    """A lock of a package. A claim that is not in ``promises`` is never called broken."""

    # the name in its registry, and the exact version
    package: str
    version: str
    language: str = "Python"
    # by the name of a claim: the sentence that makes it
    promises: Mapping[str, Quote]

    @property
    def name(self) -> str:
        """Return the package with its version."""
        return f"{self.package} {self.version}"

    @property
    def claims(self) -> frozenset[Claim]:
        """Return the promised claims. Raises KeyError for a name that is no claim."""
        return frozenset(Claim[name] for name in self.promises)

    def stage(self, **record: Any) -> Stage:
        """Return the stage of this lock. record: the arguments of Stage; the promises are its claims."""
        return Stage(library=self.name, claims=self.claims, **record)


@dataclass(frozen=True, kw_only=True)
class Library(PublishedLock):
    """The record of a file in ``libraries/``. Its promises are in the words of the documentation."""

    # how much the library is used, with the source of that figure
    used: str = ""
    # the class or the function that is tested, as a user of the library names it
    lock: str
    # the options that differ from the library's defaults, and why; empty if only the times of the scenario differ
    options: str = ""
    # more scenarios in which the lock is tested, besides ALL and the scenarios that test a promise
    scenarios: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReportedFailure(PublishedLock):
    """The record of a file in ``libraries/failures/``. Its promises are in the words of the documentation, or of the report."""

    # the report's name in its tracker; empty if no report was found
    report: str = ""
    # the address of the report; if the failure was never reported, the address of the code
    link: str
    # the failure in one sentence
    what: str
    # a scenario of the lab, and its options that the run changes
    scenario: str = ""
    options: Mapping[str, int] = field(default_factory=dict)
    # the claim that the run breaks, and the mechanism, by their names
    breaks: str = ""
    by: str = ""
    # instead of a broken claim: the smallest number of commands that an increment takes
    commands: int = 0
    # why there is no run; empty if there is one
    not_run: str = ""

    def stage_like(self, name: str) -> Stage:
        """Return the stage of a file of ``libraries/`` with the claims of this failure."""
        path = LIBRARIES / f"{name}.py"
        stage: Stage = runpy.run_path(str(path))["STAGE"]
        worker = tuple(str(LIBRARIES / word) if (LIBRARIES / word).exists() else word for word in stage.worker)
        return replace(stage, worker=worker, claims=self.claims, library=self.name, path=path)


def enter(name: str) -> None:
    """Let this process import the packages of an environment. If the lab has a package too, the lab's is imported.

    Raises NotInstalled.
    """
    if not (MADE / name).is_dir():
        raise NotInstalled(f"{name} is not installed. Run: make libraries")
    for packages in (MADE / name).glob("lib/python3*/site-packages"):
        if str(packages) not in sys.path:
            sys.path.append(str(packages))
