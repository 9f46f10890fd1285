"""Order the matrix by families of scenarios and groups of stages, and give each cell its mark."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from app.locks import part, stages
from lab.language import Language
from lab.paths import EXPECTED, INSTALLED
from lab.report.chart import Mark
from lab.report.matrix import Cell, lost_otherwise
from lab.scenario import reader as scenarios
from lab.story.say import translated

Marks = dict[tuple[str, str], Mark]  # by scenario and stage


def mark(cell: Cell) -> Mark:
    """Return the mark of a cell. A cell without a run is IMPOSSIBLE, unless only a program was missing."""
    if not cell.verdict:
        return Mark.UNTRIED if cell.missing or not cell.reason else Mark.IMPOSSIBLE
    if cell.verdict == "KEPT":
        return Mark.OTHERWISE if lost_otherwise(cell) else Mark.KEPT
    return _harm(cell) if cell.verdict in ("ADMITTED", "BROKEN") else Mark.NOTHING


def _harm(cell: Cell) -> Mark:
    """Return the mark for the harm of a cell whose claim failed."""
    if cell.claim == "all_or_nothing":
        return Mark.HALF
    if cell.claim == "counts_once" or cell.lost:
        return Mark.LOST
    return Mark.STUCK if cell.failed else Mark.LATE


def marks(cells: Iterable[Cell]) -> Marks:
    """Return the marks of cells, by scenario and stage."""
    return {(cell.scenario, cell.stage): mark(cell) for cell in cells}


def completed(cells: Iterable[Cell]) -> list[Cell]:
    """Return a cell for each scenario and stage of the lab. A missing cell is added without a verdict."""
    known = {(cell.scenario, cell.stage): cell for cell in cells}
    cells_of_all, shelf = [], stages()
    for name in scenarios.names():
        scenario = scenarios.load(name)
        for stage in shelf.values():
            blank = Cell(stage=stage.name, scenario=name, claim=scenario.tests.name, reason=scenario.misfit(stage) or "")
            cell = known.get((name, stage.name), blank)
            cells_of_all.append(cell if cell.verdict or cell.missing else blank)
    return cells_of_all


CORE_SCENARIOS = (
    *("rush", "holder_crash", "work_fails", "work_hangs", "slow_holder", "release_race", "work_outlasts_ttl", "frozen_holder"),
    *("frozen_before_write", "lost_reply", "nested", "starvation", "store_restart", "failover"),
)
CORE_STAGES = (
    *("none", "local", "incr", "setnx", "ttl", "uuid", "lua", "reentrant", "watchdog", "watchdog_abort", "fencing"),
    *("pubsub", "fair", "redlock", "mysql_for_update", "zookeeper", "zookeeper_fenced", "etcd", "etcd_fenced"),
)


class Layout(NamedTuple):
    """The rows and columns of the matrix."""

    # the scenarios of each family
    rows: dict[str, list[str]]
    # the stages of each group
    columns: dict[str, list[str]]

    @property
    def all_rows(self) -> list[str]:
        return [name for names in self.rows.values() for name in names]

    @property
    def all_columns(self) -> list[str]:
        return [stage for stages in self.columns.values() for stage in stages]


@cache
def written() -> dict[str, Any]:
    """Return the content of docs/expected.toml, with rows by family and scenario; empty if the lab is an installed package."""
    return {"stages": "", "expected": {}} if INSTALLED else tomllib.loads(EXPECTED.read_text(encoding="utf-8"))


def layout(marks: Marks) -> Layout:
    """Return the layout of these marks. Rows and columns that are IMPOSSIBLE throughout are left out."""
    known = {place for place, mark in marks.items() if mark is not Mark.IMPOSSIBLE}
    scenarios_found, stages_found = {scenario for scenario, _ in known}, {stage for _, stage in known}
    groups: dict[str, list[str]] = {}
    for stage in (name for name in stages() if name in stages_found):
        groups.setdefault(part(stage), []).append(stage)
    families = {family: [name for name in names if name in scenarios_found] for family, names in written()["expected"].items()}
    return Layout({family: names for family, names in families.items() if names}, groups)


def in_words(scenario: str, language: Language = Language.ENGLISH) -> str:
    """Return a scenario's name as words."""
    return translated(f"scenario_name.{scenario}", scenario.replace("_", " "), language)
