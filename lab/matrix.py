"""Every stage under every scenario that fits it: the cells, run side by side, against what was expected of them.

Each cell is a run of its own, by ``lab run`` in a process of its own, so that any of them can be repeated by its command.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from app.lock import Stage
from app.locks import stages
from lab import doctor, outside
from lab import scenario as scenarios
from lab.run import REPORTS, save
from lab.scenario import Scenario
from lab.verdict import Judgement

EXPECTED = Path(__file__).parents[1] / "docs" / "expected.toml"
WORDS = {"K": "KEPT", "A": "ADMITTED", "-": ""}
SMALLER = {"requests": 1500}  # what a cell needs of a scenario that is made for thousands
SLOWEST_S = 180


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


def expectations() -> dict[tuple[str, str], str]:
    """The verdict written down for each (scenario, stage)."""
    table = tomllib.loads(EXPECTED.read_text(encoding="utf-8"))
    names = table["stages"].split()
    return {
        (scenario, stage): WORDS[word]
        for scenario, row in table["expected"].items()
        for stage, word in zip(names, row.split(), strict=True)
    }


def plan(only_stages: Sequence[str], only_scenarios: Sequence[str]) -> list[Cell]:
    """All cells, in the order of scenarios as they were written down, and of the ladder; those that make no sense say why."""
    expected = expectations()
    order = list(dict.fromkeys(scenario for scenario, _ in expected))
    cells = []
    for name in sorted(only_scenarios or scenarios.names(), key=lambda name: (order.index(name) if name in order else 99, name)):
        one = scenarios.load(name)
        for stage in stages().values():
            if only_stages and stage.name not in only_stages:
                continue
            cell = Cell(stage=stage.name, scenario=name, claim=one.tests.name, expected=expected.get((name, stage.name), ""))
            cell.reason = one.misfit(stage) or ""
            cell.missing = [] if cell.reason else lacking(one, stage)
            if cell.missing:
                cell.reason = "not run: " + " ".join(f"{name} is not on this machine." for name in cell.missing)
            cells.append(cell)
    return cells


def lacking(scenario: Scenario, stage: Stage) -> list[str]:
    """The programs that are not on this machine and that the scenario needs for the stage."""
    given = outside.urls()
    stores = [stage.store] if stage.store and stage.store not in given else []
    return doctor.missing([*stores, *([doctor.CLOCKS] if scenario.store_clocks else [])])


def conduct_all(
    cells: Sequence[Cell], jobs: int, on_done: Callable[[Cell], None], reports: Path = REPORTS, draw: bool = True
) -> None:
    """Run those that make sense, so many at a time; one that fails to be a run is VOID."""
    with ThreadPoolExecutor(jobs) as pool:
        for cell in pool.map(lambda cell: _conduct(cell, reports, draw), [cell for cell in cells if not cell.reason]):
            on_done(cell)


def conduct_again(cells: Sequence[Cell], jobs: int, on_done: Callable[[Cell], None], reports: Path = REPORTS) -> None:
    """Run them once more, drawing nothing, and count in each cell's ``rounds`` what came out."""
    ran = {(cell.scenario, cell.stage): cell for cell in cells if cell.verdict}
    again = [Cell(stage=cell.stage, scenario=cell.scenario, claim=cell.claim, expected=cell.expected) for cell in ran.values()]

    def count(cell: Cell) -> None:
        first = ran[cell.scenario, cell.stage]
        first.rounds = first.rounds or {first.verdict: 1}
        first.rounds[cell.verdict] = first.rounds.get(cell.verdict, 0) + 1
        on_done(cell)

    conduct_all(again, jobs, count, reports, draw=False)


def _conduct(cell: Cell, reports: Path, draw: bool) -> Cell:
    one = scenarios.load(cell.scenario)
    command = [sys.executable, "-m", "lab.cli", "run", cell.scenario, "--stage", cell.stage, "--json"]
    command += ["--requests", str(requests(one))] if requests(one) < one.requests else []
    command += [] if draw else ["--no-draw"]
    done = subprocess.run(command, cwd=reports.parent, capture_output=True, text=True, timeout=SLOWEST_S, check=False)
    if not done.stdout.startswith("{"):
        cell.verdict, cell.reason = "VOID", f"ended with {done.returncode}: {done.stderr.strip()[-500:]}"
        return cell
    judgement = msgspec.json.decode(done.stdout, type=Judgement)
    cell.verdict, cell.run, cell.reason = judgement.verdict, judgement.run, judgement.danger["why"]
    cell.lost, cell.duplicated = judgement.lost, judgement.duplicated
    cell.failed, cell.unknown, cell.duration_s = judgement.failed, judgement.unknown, judgement.duration_s
    return cell


def requests(one: Scenario) -> int:
    """How many a cell sends: the scenario's own, unless they are more than it needs."""
    return min(one.requests, SMALLER["requests"])


def never_admitted(cells: Sequence[Cell]) -> list[str]:
    """The scenarios that harmed nobody, though they were run on somebody: too gentle to tell anything."""
    run = {cell.scenario for cell in cells if cell.verdict and not scenarios.load(cell.scenario).cures}
    return sorted(run - {cell.scenario for cell in cells if cell.verdict == "ADMITTED"})


def write(cells: Sequence[Cell], into: Path | None = None, reports: Path = REPORTS) -> list[Path]:
    """``matrix.json``, ``matrix.md``, the heat map as SVG and PNG, and ``index.html`` whose cells link to their runs."""
    from lab.heatmap import draw

    folder = into or reports / f"matrix-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    folder.mkdir(parents=True, exist_ok=True)
    save(folder / "matrix.json", list(cells))
    (folder / "matrix.md").write_text(markdown(cells), encoding="utf-8")
    return [*draw(cells, folder), folder / "matrix.md", folder / "matrix.json"]


def merged(cells: Sequence[Cell], folder: Path) -> list[Cell]:
    """All cells: these, and for the rest those that were written to the folder before."""
    known = {(cell.scenario, cell.stage): cell for cell in load(folder)} if (folder / "matrix.json").exists() else {}
    known |= {(cell.scenario, cell.stage): cell for cell in cells}
    whole = plan((), ()) if len(known) > len(cells) else list(cells)
    for index, blank in enumerate(whole):
        found = known.get((blank.scenario, blank.stage))
        if found is not None and (not blank.reason or blank.missing):
            found.expected = blank.expected
            whole[index] = found
    return whole


def load(folder: Path) -> list[Cell]:
    """The cells of a matrix that was written."""
    return msgspec.json.decode((folder / "matrix.json").read_bytes(), type=list[Cell])


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
