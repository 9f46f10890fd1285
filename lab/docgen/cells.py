"""The cells of the reference matrix as the documents ask for them: of a stage, a scenario or a claim, and by their outcome."""

from __future__ import annotations

from enum import StrEnum

from lab.report import matrix, reference
from lab.report.matrix import Cell
from lab.scenario import reader


class Outcome(StrEnum):
    """What a scenario showed of a stage."""

    KEPT = "kept"
    # the tested promise held, and increments were lost by another cause
    LOST_OTHERWISE = "kept, but increments were lost otherwise"
    FAILED = "failed"
    # the scenario does not fit the stage, was not run, or its run proved nothing
    NOT_TRIED = "not tried"


def of(stage: str = "", scenario: str = "", claim: str = "", outcome: Outcome | None = None) -> list[Cell]:
    """Return the cells that were run: of this stage, scenario, claim and outcome, where they are given."""
    return [
        one
        for one in reference.cells()
        if one.verdict
        and stage in ("", one.stage)
        and scenario in ("", one.scenario)
        and claim in ("", one.claim)
        and outcome in (None, outcome_of(one))
    ]


def outcome_of(cell: Cell) -> Outcome:
    """Return what a cell showed."""
    if matrix.lost_otherwise(cell):
        return Outcome.LOST_OTHERWISE
    return {"KEPT": Outcome.KEPT, "ADMITTED": Outcome.FAILED, "BROKEN": Outcome.FAILED}.get(cell.verdict, Outcome.NOT_TRIED)


def tally(stage: str) -> dict[Outcome, int]:
    """Return how many scenarios of the shelf had each outcome. For every stage the sum is the number of all scenarios."""
    shown = {one: len(of(stage, outcome=one)) for one in Outcome if one is not Outcome.NOT_TRIED}
    return shown | {Outcome.NOT_TRIED: len(reader.names()) - sum(shown.values())}


def worst() -> dict[str, dict[str, Outcome]]:
    """Return the outcome of each claim with each stage. Several scenarios may test one claim: the worst outcome counts."""
    about: dict[str, dict[str, Outcome]] = {}
    for cell in of():
        found = outcome_of(cell)
        if found is not Outcome.NOT_TRIED:
            stages = about.setdefault(cell.claim, {})
            stages[cell.stage] = max(found, stages.get(cell.stage, found), key=list(Outcome).index)
    return about
