"""Read the reference runs and the reference matrix, and return the figures that the documents quote."""

from __future__ import annotations

from functools import cache

from app.locks import stages
from lab.errors import BadInput, choose_from
from lab.paths import REFERENCE
from lab.report import matrix, run_data
from lab.report.matrix import Cell
from lab.report.run_data import Result
from lab.text import thousands

COUNTS = ("requests", "acknowledged", "failed", "unknown", "writes", "final", "lost", "duplicated")
WAITS = ("p50", "p99", "max")


@cache
def ladder() -> list[Result]:
    """Return the runs of the reference ladder, in the order in which they were made."""
    runs = run_data.kept(REFERENCE / run_data.KEPT)
    return run_data.with_rounds([*runs.values()], run_data.rounds_in(REFERENCE))


@cache
def cells() -> list[Cell]:
    """Return the cells of the reference matrix; none in an image, which lacks the matrix."""
    kept = REFERENCE / "matrix"
    return matrix.read(kept).cells if (kept / "matrix.json").exists() else []


def measured_cells(stage: str, scenario: str = "") -> list[Cell]:
    """Return the cells of a stage that were run, in all scenarios or in the given one."""
    return [cell for cell in cells() if cell.verdict and cell.stage == stage and scenario in ("", cell.scenario)]


def of_stage(stage: str, replicas: int = 3) -> Result:
    """Return the run of a stage in the reference ladder. Raises BadInput if there is none."""
    choose_from("stage", stage, stages())
    for result in ladder():
        if result.judgement.stage == stage and result.record.scenario["replicas"] == replicas:
            return result
    raise BadInput(f"the reference ladder has no run of {stage} over {replicas} replicas; `make ladder` makes one")


def figure(result: Result, name: str) -> str:
    """Return a figure of a run as text: a count, a wait in ms, a speed, the commands or ms of an increment. Raises BadInput."""
    judgement = result.judgement
    choose_from("figure", name, (*COUNTS, *WAITS, "per_second", "commands", "processor_ms_per_increment", "verdict"))
    if name in WAITS:
        return thousands(judgement.wait_ms[name])
    if name == "per_second":
        return thousands(result.kept_per_s)
    if name == "commands":
        return f"{judgement.commands_per_increment:.1f}"
    value = getattr(judgement, name)
    return thousands(value) if isinstance(value, int) else str(value)
