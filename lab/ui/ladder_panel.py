"""The ladder on the live page: each stage with its reference result under a scenario, once that may be shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.lock import Stage
from app.locks import stages
from lab.language import Language
from lab.report import matrix, reference
from lab.scenario.reader import load
from lab.story.say import text

CORE = (
    "none",
    "local",
    "setnx",
    "ttl",
    "uuid",
    "lua",
    "reentrant",
    "watchdog",
    "fencing",
)  # the documents' own ladder; the other stages branch off


def rungs(scenario: str, may_see: Callable[[str], bool]) -> list[dict[str, Any]]:
    """Return the stages' rows, core stages first.

    A row's cell is the verdict and the result; empty where the stage does not fit the scenario;
    None where it may not be shown yet.
    """
    cells = {cell.stage: cell for cell in reference.cells() if cell.scenario == scenario}
    shelf = stages()
    order = [*CORE, *(name for name in shelf if name not in CORE)]
    return [_rung(shelf[name], cells.get(name) if may_see(name) else None, may_see(name)) for name in order]


def next_rung(stage: str, scenario: str) -> str:
    """Return the core stage that comes after a stage in the ladder and fits the scenario; empty where there is none."""
    shelf = stages()
    order = list(shelf)
    at, asked = order.index(stage), load(scenario)
    core = CORE[CORE.index(stage) + 1 :] if stage in CORE else [name for name in order[at + 1 :] if name in CORE]
    return next((name for name in core if asked.misfit(shelf[name]) is None), "")


def _result(cell: matrix.Cell, language: Language) -> str:
    """Return a cell in short. A loss names the number of requests, because the matrix sends fewer than a run."""
    short = matrix.in_short(cell, language)
    return text("cell", "of", language, matrix.cell_requests(load(cell.scenario)), what=short) if cell.lost else short


def _rung(stage: Stage, cell: matrix.Cell | None, open_: bool) -> dict[str, Any]:
    said = {one: _result(cell, one) if cell else "–" for one in Language}
    seen = {"verdict": cell.verdict if cell else "", "said": said}
    return {"stage": stage.name, "core": stage.name in CORE, "cell": seen if open_ else None}
