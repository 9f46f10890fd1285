"""Define the matrix of all stages and scenarios: its cells as data and in words, and their origin."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import msgspec

from lab.language import Language
from lab.scenario.scenario import Scenario
from lab.story.say import ENGLISH, text, words
from lab.story.verdict import Grounds, why

SERVERS = ("redis-server", "mariadbd", "etcd", "zookeeper")  # the stores, by their names among the versions
VERSION = re.compile(r"\d+(?:\.\d+)+")


class Origin(msgspec.Struct, kw_only=True, frozen=True):
    """The origin of the cells of a matrix. A field is empty if it was not recorded.

    Cells of different origins cannot be compared, so one matrix holds cells of one origin.
    """

    # the fingerprint of the judge's code
    judge: str = ""
    # the fingerprint of all code and scenarios that decide a cell
    code: str = ""
    # the commit of the lab, with a + if files differed from it
    commit: str = ""
    # the versions of the programs and libraries
    versions: dict[str, str] = {}
    # when the first run began
    started_utc: str = ""
    # the commits of scenarios or stages that were measured later, because they were new or had changed; the newest last
    later: dict[str, str] = {}

    def store(self, name: str) -> str:
        """Return the version number of a store's server; empty if it was not installed."""
        version = VERSION.search(self.versions.get(name, ""))
        return version[0] if version else ""

    def sentence(self, language: Language = ENGLISH) -> str:
        """Return the line below the matrix: the commit, the judge, the day and the versions of the stores."""
        comma, unknown = words(language)["mark"]["names_comma"], text("matrix", "unknown", language)
        stores = comma.join(f"{name} {self.store(name)}" for name in SERVERS if self.store(name))
        return text(
            "matrix",
            "origin",
            language,
            day=text("matrix", "day", language, day=self.started_utc[:10]) if self.started_utc else "",
            commit=self.commit or unknown,
            dirty=text("matrix", "dirty", language) if self.commit.endswith("+") else "",
            judge=self.judge or unknown,
            again=text("matrix", "again", language, commit=newest) if (newest := self.newest) != self.commit else "",
            stores=stores or unknown,
        )

    @property
    def newest(self) -> str:
        """Return the newest commit with which a cell was measured."""
        return next(reversed(self.later.values()), self.commit)

    def in_short(self, language: Language = ENGLISH) -> str:
        """Return the line below the picture of the core: the month of the first run, and the newest commit."""
        commit, began = self.newest[:8] or text("matrix", "unknown", language), self.started_utc[:10]
        month = date.fromisoformat(began).strftime(text("matrix", "month", language)) if began else ""
        return text("matrix", "short_origin", language, month=month, commit=commit)


MOST_REQUESTS = 1000  # the most requests in a run of a cell: they are enough for each scenario, even if its own run has thousands


class Cell(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One stage under one scenario."""

    stage: str
    scenario: str
    claim: str
    verdict: str = ""  # empty if the scenario does not fit the stage
    reason: str = ""  # why the cell was not run, or why its run has no judgement
    grounds: Grounds | None = None  # the facts of the verdict's reason; None if no run was judged
    run: str = ""  # the name of the run's folder
    expected: str = ""  # the verdict in docs/expected.toml; empty without one
    lost: int = 0
    duplicated: int = 0
    failed: int = 0
    unknown: int = 0
    # how long the run took, from its order to its verdict; 0 if unknown
    took_s: float = 0
    # how often each verdict occurred, if the cell was run several times; all other fields are of
    # one run: the first, or a later one that broke a promise
    rounds: dict[str, int] = msgspec.field(default_factory=dict)
    missing: list[str] = []  # the missing programs because of which the cell was not run
    broken: list[str] = []  # the promises that the run broke: not always the one that the scenario tests

    def why(self, language: Language = ENGLISH) -> str:
        """Return the reason of the verdict, or why there is none."""
        return why(self.grounds, language) if self.grounds is not None else self.reason

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.expected

    @property
    def flaky(self) -> bool:
        """Return whether several verdicts occurred: then the scenario is wrong, not the stage."""
        return len(self.rounds) > 1

    @property
    def tries(self) -> int:
        """Return the number of the cell's runs."""
        return sum(self.rounds.values()) or int(bool(self.verdict))

    @property
    def seen(self) -> int:
        """Return the number of runs with the cell's verdict."""
        return self.rounds.get(self.verdict, 0) if self.rounds else self.tries


class Matrix(msgspec.Struct, kw_only=True):
    """The content of ``matrix.json``."""

    # the judge, the commit and the programs of all cells
    origin: Origin = Origin()
    cells: list[Cell]


def as_lines(matrix: Matrix) -> bytes:
    """Return the text of a ``matrix.json``: a line for each cell that was run, or that lacks a program."""
    cells = b",\n".join(msgspec.json.encode(cell) for cell in matrix.cells if cell.verdict or cell.missing)
    whole = msgspec.json.encode(msgspec.structs.replace(matrix, cells=[]))
    return whole.replace(b'"cells":[]', b'"cells":[\n' + cells + b"\n]") + b"\n"


def read(folder: Path) -> Matrix:
    """Return a written matrix. Raises OSError and msgspec's errors."""
    return msgspec.json.decode((folder / "matrix.json").read_bytes(), type=Matrix)


def in_short(cell: Cell, language: Language = ENGLISH) -> str:
    """Return the result of a cell in one or two words: ``kept``, ``lost 12``, ``–``."""
    if not cell.verdict:
        return text("cell", "not_run", language) if cell.missing else "–"
    if lost_otherwise(cell):
        return text("cell", "lost_otherwise", language, cell.lost)
    if cell.verdict in ("KEPT", "VOID", "UNSEEN"):
        return text("cell", cell.verdict, language)
    return _damage(cell, language)


def lost_otherwise(cell: Cell) -> bool:
    """Return whether the tested promise held while increments were lost by another cause."""
    return cell.verdict == "KEPT" and cell.lost > 0


def _damage(cell: Cell, language: Language) -> str:
    """Return the figure that shows the failure best."""
    if cell.claim == "counts_once":
        return text("cell", "twice", language, cell.duplicated)
    if cell.claim == "all_or_nothing":
        return text("cell", "half_done", language)
    if cell.claim == "fence_outlives_restart":
        return text("cell", "refused", language, cell.failed)
    if cell.lost:
        return text("cell", "lost", language, cell.lost)
    return text("cell", "not_served", language, cell.failed) if cell.failed else text("cell", "late", language)


def cell_requests(scenario: Scenario) -> int:
    """Return the number of requests of a scenario's cells: the scenario's own number, but at most MOST_REQUESTS."""
    return min(scenario.requests, MOST_REQUESTS)
