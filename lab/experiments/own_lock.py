"""``lab matrix --stage ./my_lock.py``: a lock of the user's own under every scenario that tests a claim of it.

The result has a folder of its own. The expected verdicts of docs/expected.toml are those of the lab's stages, so none is
compared here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import asdict, replace
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from app.lock import Stage
from lab import prerequisites
from lab.errors import BadInput, ExitStatus, worst
from lab.experiments.child_run import warm_runs
from lab.experiments.matrix import in_order, lacking, measured_now, write
from lab.experiments.matrix_round import judged
from lab.interrupts import interruptible
from lab.judge.judgement import Verdict
from lab.paths import REFERENCE, REPORTS
from lab.pipeline import publish_site
from lab.report.matrix import Cell, Origin, cell_requests, lost_otherwise
from lab.report.terminal import terminal
from lab.report.tested_lock import TestedCell
from lab.scenario import reader as scenarios
from lab.scenario.overrides import override
from lab.scenario.reader import ENDING
from lab.scenario.scenario import Scenario
from lab.scenario.stages import find_stage
from lab.servers import external_stores, fault_target
from lab.text import counted

COLOURS = {"KEPT": "green", "ADMITTED": "yellow", "UNSEEN": "dim", "VOID": "dim", "BROKEN": "bold red"}
UNCLAIMED, UNFIT, MISSING = (
    "test a claim that the stage does not make",
    "do not fit the stage",
    "need a program that is not installed",
)


@dataclass
class OwnCell:
    """One stage under one scenario, and what came of it."""

    stage: Stage
    scenario: Scenario
    # the scenario as a command names it: its name, or the path of its file
    named: str
    # why the scenario is left out: one of the three kinds, and the reason; empty where it runs
    kind: str = ""
    reason: str = ""
    # at most so many requests; 0 for as many as a cell of the matrix sends
    most: int = 0
    # at most so many users; 0 for those of the scenario
    users: int = 0
    # a cell for each round
    rounds: list[Cell] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        """Return the arguments of ``lab run`` that make the run."""
        return self.words_for(self.stage.lookup)

    def words_for(self, lookup: str) -> list[str]:
        """Return the arguments of ``lab run`` that make such a run of any stage. lookup: its name, or the path of its file."""
        requests = min(cell_requests(self.scenario), self.most or self.scenario.requests)
        fewer = ["--requests", str(requests)] if requests < self.scenario.requests else []
        fewer += ["--users", str(self.users)] if 0 < self.users < self.scenario.users else []
        return [self.named, "--stage", lookup, *fewer]

    def cell(self) -> Cell:
        """Return a cell that is still empty."""
        return Cell(
            stage=self.stage.name, scenario=self.scenario.name, claim=self.scenario.tests.name, reason=self.reason, expected=""
        )

    def result(self) -> Cell:
        """Return the worst round, with the number of rounds of each verdict."""
        return worst_of(self.rounds) if self.rounds else self.cell()

    def outcomes(self, command: str) -> list[TestedCell]:
        """Return what the rounds have shown, claim by claim: of the one under test, and of each other promise that they broke.

        command: makes such a run.
        """
        if not self.rounds:
            return []
        promises, tested = {claim.name for claim in self.stage.claims}, self.scenario.tests.name
        others = {name for cell in self.rounds for name in cell.broken if name in promises} - {tested}
        found = [worst_of([_about(cell, name, promises) for cell in self.rounds]) for name in (tested, *sorted(others))]
        return [TestedCell(**asdict(one), command=command) for one in found]


def worst_of(rounds: Sequence[Cell]) -> Cell:
    """Return the worst of at least one round, with the number of rounds of each verdict where there are several."""
    cell = replace(max(rounds, key=lambda one: (SEVERITY.index(one.verdict), lost_otherwise(one))))
    if len(rounds) > 1:
        cell.rounds = dict(Counter(one.verdict for one in rounds))
    return cell


def _about(cell: Cell, claim: str, promises: Collection[str]) -> Cell:
    """Return what a run has shown of a claim: nothing, where it broke only others. What is no promise is not broken."""
    if cell.verdict != "BROKEN" and claim == cell.claim:
        return cell
    if cell.verdict == "BROKEN" and claim in cell.broken:
        return replace(cell, claim=claim, verdict="BROKEN" if claim in promises else "ADMITTED")
    what = f"this run broke {', '.join(cell.broken)}: {cell.reason}" if cell.broken else cell.reason
    return replace(cell, claim=claim, verdict="VOID", reason=what)


SEVERITY = ("KEPT", "ADMITTED", "UNSEEN", "VOID", "BROKEN")


def plan(found: Sequence[Stage], only_scenarios: Sequence[str], also: Collection[str] = ()) -> list[OwnCell]:
    """Return what to run, and what is left out with the reason. Raises BadInput for a scenario that is unknown.

    also: scenarios that run although they test a claim that the stage does not make.
    """
    tasks = []
    for named in in_order(only_scenarios or scenarios.names()):
        one = scenarios.load(named)
        for stage in found:
            task = OwnCell(stage, one, str(Path(named).resolve()) if named.endswith(ENDING) else named)
            task.kind, task.reason = _left_out(stage, one, is_wanted=named in also)
            tasks.append(task)
    return tasks


def _left_out(stage: Stage, one: Scenario, is_wanted: bool) -> tuple[str, str]:
    """Return the kind and the reason for which a scenario is left out; both empty where it runs."""
    if one.tests not in stage.claims and not is_wanted:
        return UNCLAIMED, f"{stage.name} does not claim {one.tests.name}"
    try:
        fault_target.refuse(stage, override(one, stage, {}))
        external_stores.refuse(stage, one, external_stores.urls())
    except BadInput as error:
        return UNFIT, str(error)
    if missing := lacking(one, stage):
        return MISSING, " ".join(f"{name} is not installed." for name in missing)
    return "", ""


def run_own(
    names: Sequence[str],
    only_scenarios: Sequence[str],
    jobs: int,
    repeat: int,
    out: Path | None,
    draw: bool = True,  # noqa: ARG001 - each cell of the first round is drawn in any case
    resume: bool = False,
    reports: Path = REPORTS,
) -> int:
    """Run all that the stages claim, print a table, and return the worst exit status. Raises BadInput."""
    if resume:
        raise BadInput("--resume is for the matrix of the lab's stages; a matrix of your own locks has a new folder each time")
    found = [find_stage(name) for name in dict.fromkeys(names)]
    if len({stage.name for stage in found}) < len(found):
        raise BadInput("two of the stages have the same name; give one of the files another name")
    folder = _folder(found, out, reports)
    tasks, origin = plan(found, only_scenarios), measured_now()
    console = terminal()
    print_left_out(console, found, tasks)
    console.print(f"{counted(sum(not task.kind for task in tasks), 'cell')}, {jobs} at a time", style="dim")
    try:
        with interruptible(), warm_runs():
            for number in range(1, repeat + 1):
                if number > 1:
                    console.print(f"again: {number} of {repeat}", style="dim")
                conduct(tasks, jobs, console, reports, draw=number == 1)
    finally:  # an interrupt must not lose the cells that have run
        pages = _write(found, tasks, folder, reports, origin)
        _print_table(console, found, tasks)
        for path in pages:
            console.print(str(path), style="dim", soft_wrap=True)
        publish_site(reports)
    return status(tasks)


def conduct(tasks: Sequence[OwnCell], jobs: int, console: Console, reports: Path, draw: bool) -> None:
    """Make one round of runs, ``jobs`` at a time."""
    _conduct([task for task in tasks if not task.kind], jobs, console, reports, [] if draw else ["--no-draw"])


def conduct_rounds(tasks: Sequence[OwnCell], rounds: int, jobs: int, console: Console, reports: Path, draw: bool) -> None:
    """Make as many rounds of runs as each scenario lacks. A run that shows nothing, where others do, is made once more."""
    fitting, words = [task for task in tasks if not task.kind], [] if draw else ["--no-draw"]
    # all rounds together: nobody waits for the slowest run of each round
    _conduct([task for number in range(rounds) for task in fitting if number >= len(task.rounds)], jobs, console, reports, words)
    again: list[OwnCell] = []
    for task in fitting:
        shown = [cell for cell in task.rounds if cell.verdict != "VOID"]
        if shown:
            again += [task] * (len(task.rounds) - len(shown))
            task.rounds = shown
    _conduct(again, jobs, console, reports, words)


def _conduct(tasks: Sequence[OwnCell], jobs: int, console: Console, reports: Path, words: Sequence[str]) -> None:
    def one(task: OwnCell) -> None:
        cell = judged(task.cell(), [*task.words, *words], reports, task.stage.store or "")
        task.rounds.append(cell)
        console.print(f"{cell.scenario:24}{cell.stage:18}{cell.verdict}", style="dim")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, tasks))


def status(tasks: Sequence[OwnCell]) -> ExitStatus:
    """Return the worst exit status of all rounds: 1 where any run is BROKEN.

    The status is 3 where a cell has several verdicts or nothing ran, and 4 where a program is missing.
    """
    statuses = [Verdict[cell.verdict].exit_status for task in tasks for cell in task.rounds]
    if not statuses or any(len(task.result().rounds) > 1 for task in tasks):
        statuses.append(ExitStatus.NOTHING_SHOWN)
    if any(task.kind == MISSING for task in tasks):
        statuses.append(ExitStatus.CANNOT_RUN)
    return worst(statuses)


def _folder(found: Sequence[Stage], out: Path | None, reports: Path) -> Path:
    """Return the folder of the result. Raises BadInput where it would be written over a matrix, or into the reference."""
    if out is None:
        return reports / f"matrix-{'-'.join(stage.name for stage in found)}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    if out.resolve().is_relative_to(REFERENCE.resolve()):
        raise BadInput(f"--out: {out} is in the reference, which has the stages of the lab only; give another folder")
    if (out / "matrix.json").exists():
        raise BadInput(f"--out: {out} holds a matrix already, and a lock of your own has its own; give another folder")
    return out


def _write(found: Sequence[Stage], tasks: Sequence[OwnCell], folder: Path, reports: Path, origin: Origin) -> list[Path]:
    """Write the matrix of the scenarios that ran; nothing where none ran."""
    ran = {task.scenario.name for task in tasks if task.rounds}
    cells = [task.result() for task in tasks if task.scenario.name in ran]
    title = f"{', '.join(stage.name for stage in found)} under the scenarios that test a claim"
    return write(cells, folder, reports, own=title, origin=origin) if cells else []


def print_left_out(console: Console, found: Sequence[Stage], tasks: Sequence[OwnCell]) -> None:
    """Print which scenarios are left out, and why: the names by kind, and a sentence for each that the stage does claim."""
    for stage in found:
        for kind in (UNCLAIMED, UNFIT, MISSING):
            out = [task for task in tasks if task.kind == kind and task.stage is stage]
            if out:
                names = ", ".join(task.scenario.name for task in out)
                console.print(f"{stage.name}: left out, because they {kind}: {names}", soft_wrap=True)
            for task in out if kind is not UNCLAIMED else ():
                console.print(f"  {task.scenario.name}: {escape(task.reason)}", style="dim", soft_wrap=True)
    for program in sorted({name for task in tasks if task.kind == MISSING for name in lacking(task.scenario, task.stage)}):
        console.print(prerequisites.how_to_install(program), style="bold red", soft_wrap=True)


def _print_table(console: Console, found: Sequence[Stage], tasks: Sequence[OwnCell]) -> None:
    """Print a line for each scenario that ran: the verdict, the figures, and why."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("scenario", *(["stage"] if len(found) > 1 else []), "verdict", "figures", "why"):
        table.add_column(name, overflow="fold", no_wrap=name in ("scenario", "stage"))
    for task in tasks:
        if task.rounds:
            cell = task.result()
            colour = COLOURS["ADMITTED" if lost_otherwise(cell) else cell.verdict]
            stage = [cell.stage] if len(found) > 1 else []
            table.add_row(cell.scenario, *stage, f"[{colour}]{verdicts(cell)}[/]", figures(cell), escape(cell.reason))
    if table.row_count:
        console.print(table)
    else:
        console.print("nothing ran: no scenario tests a claim of the stage and fits it", style="bold red")


def verdicts(cell: Cell) -> str:
    """Return the verdict of a cell, or how often each occurred: ``BROKEN 1 of 3, KEPT 2 of 3``.

    A promise that was kept next to losses by another cause is marked: ``KEPT, 3 lost otherwise``.
    """
    rounds, total = cell.rounds, sum(cell.rounds.values())
    order = sorted(rounds, key=SEVERITY.index, reverse=True)
    words = ", ".join(f"{verdict} {rounds[verdict]} of {total}" for verdict in order) or cell.verdict
    return f"{words}, {cell.lost} lost otherwise" if lost_otherwise(cell) else words


def figures(cell: Cell) -> str:
    """Return the counts of a cell that are not zero: ``lost 12, failed 3``."""
    counts = {name: getattr(cell, name) for name in ("lost", "duplicated", "failed", "unknown")}
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "lost 0"
