"""The matrix: every stage under every scenario that fits it. The cells run in parallel and are
compared with the expected verdicts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from rich.console import Console
from rich.markup import escape

from app.lock import Stage
from app.locks import stages
from lab import prerequisites
from lab.errors import BadInput, ExitStatus, choose_from, worst
from lab.evidence.decided import current, of_claims
from lab.evidence.run_folder import replace
from lab.experiments.matrix_round import conduct
from lab.interrupts import interruptible
from lab.judge.judgement import Verdict
from lab.language import Language
from lab.paths import REPORTS, need_clone, new_place, shown
from lab.pipeline import publish_site
from lab.report.matrix import SERVERS, Cell, Matrix, Origin, as_lines, in_short, read
from lab.report.matrix_layout import written
from lab.report.matrix_page import Decided, write_page
from lab.report.terminal import terminal
from lab.run import environment
from lab.scenario import reader as scenarios
from lab.scenario.fault import Need
from lab.scenario.scenario import Scenario
from lab.servers.synced_files import can_see
from lab.story.searches import summary
from lab.text import counted

NOBODY_KNOWS = Origin()
WORDS = {"K": "KEPT", "A": "ADMITTED", "-": ""}


def expectations() -> dict[tuple[str, str], str]:
    """Return the verdict that was written down for each (scenario, stage); none if the lab is installed."""
    table = written()
    names = table["stages"].split()
    return {
        (scenario, stage): WORDS[word]
        for rows in table["expected"].values()
        for scenario, row in rows.items()
        for stage, word in zip(names, row.split(), strict=True)
    }


def promised(scenario: Scenario, stage: Stage) -> str:
    """Return the verdict that follows from the claims of a stage: it is expected if no other was written down."""
    return "" if scenario.misfit(stage) else "KEPT" if scenario.tests in stage.claims else "ADMITTED"


def plan(only_stages: Sequence[str], only_scenarios: Sequence[str]) -> list[Cell]:
    """Return all cells, in the order of docs/expected.toml and of the ladder. A cell that does not
    fit has a reason.
    """
    expected = expectations()
    cells = []
    for name in in_order(only_scenarios or scenarios.names()):
        one = scenarios.load(name)
        for stage in stages().values():
            if only_stages and stage.name not in only_stages:
                continue
            cell = Cell(stage=stage.name, scenario=name, claim=one.tests.name, reason=one.misfit(stage) or "")
            cell.expected = expected.get((name, stage.name), promised(one, stage))
            cell.missing = [] if cell.reason else lacking(one, stage)
            if cell.missing:
                cell.reason = "not run: " + " ".join(f"{name} is not installed." for name in cell.missing)
            cells.append(cell)
    return cells


def in_order(names: Sequence[str]) -> list[str]:
    """Return scenarios in the order of docs/expected.toml; others come last."""
    order = list(dict.fromkeys(scenario for scenario, _ in expectations()))
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def lacking(scenario: Scenario, stage: Stage) -> list[str]:
    """Return the programs that the scenario needs for the stage and that are not on this machine."""
    stores = [stage.store] if stage.store else []
    missing = prerequisites.missing([*stores, *([prerequisites.CLOCKS] if scenario.store_clocks else [])])
    blind = any(Need.DISK in fault.needs for fault in scenario.faults) and not can_see(REPORTS if REPORTS.is_dir() else Path())
    return [*missing, *([prerequisites.UNSYNCED_PAGES] if blind else [])]


def measured_now() -> Origin:
    """Return the origin of cells that are measured from now on."""
    return Origin(
        judge=environment.fingerprint(environment.JUDGE),
        code=environment.fingerprint(environment.CODE),
        commit=environment.commit(),
        versions=environment.versions(),
        started_utc=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def write(
    cells: Sequence[Cell],
    into: Path | None = None,
    origin: Origin = NOBODY_KNOWS,
) -> list[Path]:
    """Write ``matrix.json``, and ``index.html``, whose cells link to their runs."""
    folder = into or new_place("matrix")
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / "matrix.json", as_lines(Matrix(origin=origin, cells=list(cells))))
    return [*write_page(cells, folder, origin, decided(cells)), folder / "matrix.json"]


def decided(cells: Sequence[Cell]) -> Decided:
    """Return the decisions of the kept searches of all orders, in words: by language, stage and claim."""
    found = {name: current(stage) for name, stage in stages().items() if name in {cell.stage for cell in cells}}
    searches = {name: (search, of_claims(search)) for name, search in found.items() if search}
    return {
        language: {
            name: {claim.name: summary(one, search.ttl_ms, language) for claim, one in claims.items()}
            for name, (search, claims) in searches.items()
        }
        for language in Language
    }


def merged(cells: Sequence[Cell], folder: Path) -> list[Cell]:
    """Return these cells, completed by the cells that the folder holds already. A cell that was not run replaces none."""
    known = {(cell.scenario, cell.stage): cell for cell in read(folder).cells} if (folder / "matrix.json").exists() else {}
    known |= {place: cell for cell in cells if (place := (cell.scenario, cell.stage)) not in known or cell.verdict}
    whole = plan((), ()) if len(known) > len(cells) else list(cells)
    for index, blank in enumerate(whole):
        found = known.get((blank.scenario, blank.stage))
        if found is not None and (not blank.reason or blank.missing):
            found.expected = blank.expected
            whole[index] = found
    return whole


def differences(first: Origin, second: Origin) -> list[str]:
    """Return how two origins differ; nothing if their cells can be in one matrix."""
    both = {name: (getattr(first, name), getattr(second, name)) for name in ("judge", "commit")}
    found = [
        f"the {name} is {new or 'unknown'}, and was {old or 'unknown'}"
        for name, (old, new) in both.items()
        if not old or old.removesuffix("+") != new.removesuffix("+")  # an unknown one cannot be compared
    ]
    if not found and (not first.code or first.code != second.code):
        found.append(f"files of the lab, the locks or the scenarios have changed since, both at commit {first.commit}")
    stores = [(name, first.store(name), second.store(name)) for name in SERVERS]
    found += [f"{name} is {new}, and was {old}" for name, old, new in stores if old and new and old != new]
    return found


def refuse_a_mixture(folder: Path, origin: Origin) -> None:
    """Raise BadInput if the folder has cells of another judge or commit than the present ones."""
    if (folder / "matrix.json").exists() and (found := differences(read(folder).origin, origin)):
        raise BadInput(
            f"--out: {shown(folder)} keeps cells that cannot be compared with new ones: {'; '.join(found)}. "
            "Give another folder, or check out the commit of the folder's cells."
        )


def _published(cells: list[Cell], out: Path | None, origin: Origin, console: Console) -> list[Cell]:
    """Write the matrix, and return its cells, with the cells that the folder had."""
    if changes := differences(origin, measured_now()):
        console.print(f"the lab was changed while the matrix was measured: {'; '.join(changes)}", style="bold red")
        origin = msgspec.structs.replace(origin, judge="", code="")
    if out is not None:
        cells = merged(cells, out)
    for path in write(cells, out, origin=origin):
        console.print(str(path), style="dim", soft_wrap=True)
    return cells


def run_matrix(
    only_stages: tuple[str, ...],
    only_scenarios: tuple[str, ...],
    jobs: int,
    repeat: int,
    out: Path | None,
    draw: bool = False,
    resume: bool = False,
) -> int:
    """Run ``lab experiment matrix``, and return the worst exit status of its cells.

    Each round runs all cells before the next round begins, so that a change of the machine meets all cells alike.
    draw: draw all runs of the first round. resume: run a cell only as often as the folder ``out`` lacks runs of it.

    Raises BadInput for an unknown name, if the lab is installed, and if ``out`` has cells of another judge or commit.
    The status is 4 if a program was missing for some cells. It is 3 if no stage failed under a
    scenario, or if a cell is flaky or not as expected.
    """
    need_clone("a matrix of the lab's own stages")
    for name in only_stages:
        choose_from("stage", name, stages())
    for name in only_scenarios:
        choose_from("scenario", name, scenarios.names())
    cells, origin = plan(only_stages, only_scenarios), measured_now()
    if resume and out is None:
        raise BadInput("--resume needs the folder of the matrix: --out")
    if out is not None:
        refuse_a_mixture(out, origin)
    if out is not None and resume:
        known = {(cell.scenario, cell.stage): cell for cell in merged(cells, out) if cell.verdict}
        cells = [known.get((cell.scenario, cell.stage), cell) for cell in cells]
    console = terminal()

    def report(run: Cell) -> None:
        surprise = "" if run.as_expected else f"  [bold red]expected {run.expected or 'nothing'}[/]"
        console.print(f"{run.scenario:24}{run.stage:18}{run.verdict:10}{escape(in_short(run))}{surprise}")

    try:
        with interruptible():
            for number in range(1, repeat + 1):
                left = [cell for cell in cells if cell.tries < number and (cell.verdict or not cell.reason)]
                of = f"round {number} of {repeat}: " if repeat > 1 else ""
                console.print(f"{of}{counted(len(left), 'cell')}, {jobs} at a time", style="dim")
                on_done = report if number == 1 else lambda run: None if run.as_expected else report(run)
                if left:
                    began_s = time.monotonic()
                    conduct(left, jobs, on_done, draw=draw and number == 1)
                    console.print(f"{counted(len(left), 'cell')} in {time.monotonic() - began_s:.0f} s", style="dim")
                if left and number < repeat and out is not None:  # a command that is killed loses one round at most
                    _published(cells, out, origin, console)
    finally:  # an interrupt must not lose the cells that have run
        cells = _published(cells, out, origin, console)
        publish_site()
    return _matrix_status(cells, console, whole=not only_stages)


def never_admitted(cells: Sequence[Cell]) -> list[str]:
    """Return the scenarios that ran but under which no stage failed: they are too gentle to prove anything."""
    cures = {name for name in scenarios.names() if scenarios.load(name).cures}
    run = {cell.scenario for cell in cells if cell.verdict} - cures
    return sorted(run - {cell.scenario for cell in cells if cell.verdict == "ADMITTED"})


def _matrix_status(cells: list[Cell], console: Console, whole: bool) -> int:
    """Print the errors of the scenarios, and return the exit status."""
    gentle = never_admitted(cells) if whole else []
    if gentle:
        console.print(f"these scenarios prove nothing, because no stage failed under them: {', '.join(gentle)}", style="bold red")
    for cell in cells:
        if cell.flaky:
            counts = ", ".join(f"{count} times {verdict}" for verdict, count in cell.rounds.items())
            console.print(f"flaky: {cell.scenario} on {cell.stage}: {counts}", style="bold red")
    without = sorted({program for cell in cells if not cell.verdict for program in cell.missing})
    for program in without:
        number = sum(program in cell.missing and not cell.verdict for cell in cells)
        console.print(
            f"not run: {counted(number, 'cell')}, because {program} is missing. {prerequisites.how_to_install(program)}",
            style="bold red",
            soft_wrap=True,
        )
    statuses = [Verdict[cell.verdict].exit_status for cell in cells if cell.verdict]
    odd = gentle or any(cell.flaky or not cell.as_expected for cell in cells if cell.verdict)
    statuses += [ExitStatus.NOTHING_SHOWN] if odd else []
    return worst([*statuses, ExitStatus.CANNOT_RUN] if without else statuses)
