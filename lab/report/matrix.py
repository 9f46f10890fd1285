"""The matrix of all stages and scenarios: its cells as data, in words, and as a Markdown table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from lab.scenario import scenario as scenarios
from lab.scenario.scenario import Scenario

MOST_REQUESTS = 1500  # of a cell: enough for any scenario, also for one that is made for thousands


class Cell(msgspec.Struct, kw_only=True):
    """One stage under one scenario. verdict: empty where the scenario makes no sense for the stage; reason says why, or what
    was seen. run: the folder's name. expected: the verdict written down before, empty for none. rounds: how often it came to
    which verdict, where it was run more than once; the rest is of the first time. missing: the programs for want of which it
    was not run.
    """

    stage: str
    scenario: str
    claim: str
    verdict: str = ""
    reason: str = ""
    run: str = ""
    expected: str = ""
    lost: int = 0
    duplicated: int = 0
    failed: int = 0
    unknown: int = 0
    duration_s: float = 0
    rounds: dict[str, int] = msgspec.field(default_factory=dict)
    missing: list[str] = []

    @property
    def as_expected(self) -> bool:
        return self.verdict == self.expected

    @property
    def wavers(self) -> bool:
        """Whether it came to different verdicts: then the scenario is wrong, not the stage."""
        return len(self.rounds) > 1


def load(folder: Path) -> list[Cell]:
    """The cells of a matrix that was written."""
    return msgspec.json.decode((folder / "matrix.json").read_bytes(), type=list[Cell])


def never_admitted(cells: Sequence[Cell]) -> list[str]:
    """The scenarios that harmed nobody, though they were run on somebody: too gentle to tell anything."""
    run = {cell.scenario for cell in cells if cell.verdict and not scenarios.load(cell.scenario).cures}
    return sorted(run - {cell.scenario for cell in cells if cell.verdict == "ADMITTED"})


def markdown(cells: Sequence[Cell]) -> str:
    """Rows are scenarios, columns stages; a cell is its verdict, with what was lost."""
    columns = list(dict.fromkeys(cell.stage for cell in cells))
    by_place = {(cell.scenario, cell.stage): cell for cell in cells}
    lines = [["scenario", "claim", *columns], ["---"] * (len(columns) + 2)]
    for name in dict.fromkeys(cell.scenario for cell in cells):
        row = [by_place[name, column] for column in columns]
        lines.append([f"`{name}`", f"`{row[0].claim}`", *map(in_short, row)])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def in_short(cell: Cell) -> str:
    """``kept``, ``lost 12``, ``–``: what a cell shows."""
    if not cell.verdict:
        return "not run" if cell.missing else "–"
    if cell.verdict in ("KEPT", "VOID", "UNSEEN"):
        return cell.verdict.lower()
    word = "broken: " if cell.verdict == "BROKEN" else ""
    return word + _harm(cell)


def _harm(cell: Cell) -> str:
    """The most telling of the four figures."""
    if cell.claim == "counts_once":
        return f"{cell.duplicated} twice"
    if cell.claim == "all_or_nothing":
        return "half done"
    if cell.claim == "fence_outlives_restart":
        return f"{cell.failed} refused"
    if cell.lost:
        return f"lost {cell.lost}"
    return f"{cell.failed} stuck" if cell.failed else "late"


def cell_requests(one: Scenario) -> int:
    """How many a cell sends: the scenario's own, unless they are more than it needs."""
    return min(one.requests, MOST_REQUESTS)
