"""The ladder beside the live page: each stage with what the reference saw of it under a scenario, once that may be shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.locks import stages
from lab.report import matrix, reference
from lab.scenario.scenario import load

CORE = ("none", "local", "setnx", "ttl", "uuid", "lua", "reentrant", "watchdog")  # the documents' own ladder; the rest branch off


def rungs(scenario: str, may_see: Callable[[str], bool]) -> list[dict[str, Any]]:
    """Core stages first. A stage's cell: its verdict and what was seen, empty where the scenario makes no sense for it; None
    where it may not be seen yet.
    """
    cells = {cell.stage: cell for cell in reference.cells() if cell.scenario == scenario}
    order = [*CORE, *(name for name in stages() if name not in CORE)]
    return [_rung(name, cells.get(name) if may_see(name) else None, may_see(name)) for name in order]


def _said(cell: matrix.Cell) -> str:
    """In short; a loss also out of how many, since the matrix sends fewer requests than a run does by itself."""
    short = matrix.in_short(cell)
    return f"{short} of {matrix.cell_requests(load(cell.scenario))}" if cell.lost else short


def _rung(name: str, cell: matrix.Cell | None, open_: bool) -> dict[str, Any]:
    seen = {"verdict": cell.verdict, "said": _said(cell)} if cell else {"verdict": "", "said": "–"}
    return {"stage": name, "idea": stages()[name].story.idea, "core": name in CORE, "cell": seen if open_ else None}
