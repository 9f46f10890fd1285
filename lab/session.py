"""What the commands do: runs, one or many, from the terminal."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from app.lock import Stage
from app.locks import stages
from lab import doctor, matrix, outside, site
from lab import run as runs
from lab import scenario as scenarios
from lab.choice import BadInput, chosen
from lab.cluster import Cluster, cluster
from lab.compare import compare
from lab.conductor import Conducted, by_locust, conduct, interruptible
from lab.engine import as_many_as_are_up
from lab.keeper import Keeper
from lab.listing import find_stage
from lab.matrix import Cell
from lab.report import keep, report_many, report_run, runs_in
from lab.run import REPORTS, RunFolder
from lab.scenario import Scenario
from lab.service import MissingProgram
from lab.verdict import Verdict, judge
from lab.words import introduce, summarise, terminal

INTERRUPTED = 130


@contextlib.contextmanager
def keeping() -> Iterator[Keeper]:
    """A keeper for as long as servers are needed; an interrupt ends the block, and nothing outlives it."""
    with interruptible():
        keeper = Keeper()
        try:
            yield keeper
        finally:
            keeper.close()


@contextlib.contextmanager
def progress(scenario: Scenario, console: Console) -> Iterator[Callable[[int], None]]:
    """A bar that follows the requests, where somebody looks."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting the servers", total=scenario.requests)
        yield lambda done: bar.update(task, completed=done, description="driving requests")


def run_one(scenario_name: str, stage_name: str, given: Mapping[str, Any], as_json: bool, command: str, draw: bool = True) -> int:
    """``lab run``. draw: or leave the pictures for later. Returns the exit status. Raises BadInput, MissingProgram, NotReady."""
    stage = find_stage(stage_name)
    scenario = scenarios.override(scenarios.load(scenario_name), stage, as_many_as_are_up(given))
    scenario = dataclasses.replace(scenario, notes=(*scenario.notes, *outside.note(stage, outside.urls())))
    out, err = terminal(quiet=as_json), terminal(stderr=True)
    introduce(out, stage, scenario)
    with keeping() as keeper:
        done = _run(keeper, stage, scenario, command, stage_name, err)
    paths = finish(done, draw)
    if as_json:
        sys.stdout.write((done.folder.path / "verdict.json").read_text(encoding="utf-8"))
    summarise(out, done.judgement, paths)
    return INTERRUPTED if done.record.ended == "interrupted" else done.judgement.exit_status


def _run(keeper: Keeper, stage: Stage, scenario: Scenario, command: str, shelf_name: str, err: Console) -> Conducted:
    with progress(scenario, err) as on_progress:
        return conduct(keeper, stage, scenario, by_locust(keeper, scenario, on_progress), command, shelf_name=shelf_name)


def finish(done: Conducted, draw: bool = True) -> list[Path]:
    """Draw what was conducted, or keep only what pictures are made from, and publish its folder; what to look at now."""
    if draw:
        drawn = report_run(done.folder.path, (done.judgement, done.findings))
    else:
        keep(done.folder.path, done.judgement, done.findings)
        drawn = [done.folder.path / "verdict.json"]
    done.folder.publish()
    show(done.folder.path.parents[1])
    return [done.folder.path / path.name for path in drawn]


def run_ladder(given: Mapping[str, Any], out: Path | None, command: str) -> int:
    """``lab ladder``: every stage over three replicas, the first two in one as well; then the comparison."""
    console = terminal()
    plan = [(stage, "rush") for stage in stages().values()]
    plan += [(stages()[name], "one_replica") for name in ("none", "local")]
    fitted = [(stage, scenarios.override(scenarios.load(name), stage, _for(name, given))) for stage, name in plan]
    folders, worst = [], 0
    for stage, scenario in fitted:
        introduce(console, stage, scenario)
        with keeping() as keeper:
            done = _run(keeper, stage, scenario, command, stage.name, terminal(stderr=True))
        finish(done)
        summarise(console, done.judgement, [done.folder.path])
        if done.record.ended == "interrupted":
            return INTERRUPTED
        folders.append(done.folder.path)
        worst = max(worst, done.judgement.exit_status, key=_gravity)
    into = out or REPORTS / f"ladder-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    for path in report_many(folders, into):
        console.print(str(path), style="dim", soft_wrap=True)
    show()
    console.print((into / "table.md").read_text(encoding="utf-8"), soft_wrap=True)
    return worst


def run_matrix(only_stages: tuple[str, ...], only_scenarios: tuple[str, ...], jobs: int, repeat: int, out: Path | None) -> int:
    """``lab matrix``: the worst of its cells' exit statuses; 4 if some were not run for want of a program; 3 if a scenario
    harmed nobody it was run on, or a cell is not as expected, or came to another verdict when it was repeated.
    """
    for name in only_stages:
        chosen("stage", name, stages())
    for name in only_scenarios:
        chosen("scenario", name, scenarios.names())
    cells = matrix.plan(only_stages, only_scenarios)
    console, left = terminal(), sum(not cell.reason for cell in cells)

    def tell(cell: Cell) -> None:
        surprise = "" if cell.as_expected else f"  [bold red]expected {cell.expected or 'nothing'}[/]"
        console.print(f"{cell.scenario:24}{cell.stage:18}{cell.verdict:10}{escape(matrix.in_short(cell))}{surprise}")

    console.print(f"{left} cells, {jobs} at a time", style="dim")
    try:
        with interruptible():
            matrix.conduct_all(cells, jobs, tell)
            for number in range(2, repeat + 1):
                console.print(f"again: {number} of {repeat}", style="dim")
                matrix.conduct_again(cells, jobs, lambda cell: None if cell.as_expected else tell(cell))
    finally:  # what was run until an interrupt is not lost
        if out is not None:
            cells = matrix.merged(cells, out)
        for path in matrix.write(cells, out):
            console.print(str(path), style="dim", soft_wrap=True)
        show()
    return _matrix_status(cells, console, whole=not only_stages)


def _matrix_status(cells: list[Cell], console: Console, whole: bool) -> int:
    """Its exit status, and a word about what is wrong with the scenarios."""
    gentle = matrix.never_admitted(cells) if whole else []
    if gentle:
        console.print(f"harmed nobody, so they prove nothing: {', '.join(gentle)}", style="bold red")
    for cell in cells:
        if cell.wavers:
            counts = ", ".join(f"{count} times {verdict}" for verdict, count in cell.rounds.items())
            console.print(f"wavers: {cell.scenario} on {cell.stage}: {counts}", style="bold red")
    without = sorted({program for cell in cells if not cell.verdict for program in cell.missing})
    for program in without:
        number = sum(program in cell.missing and not cell.verdict for cell in cells)
        console.print(
            f"not run: {number} cells, for want of {program}. {doctor.how_to_install(program)}", style="bold red", soft_wrap=True
        )
    statuses = [Verdict[cell.verdict].exit_status for cell in cells if cell.verdict]
    odd = gentle or any(cell.wavers or not cell.as_expected for cell in cells if cell.verdict)
    return max([*statuses, 3 if odd else 0, MissingProgram.exit_status if without else 0], key=_gravity)


def _for(scenario: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """One replica is one replica, whatever the others get."""
    return {name: value for name, value in given.items() if not (scenario == "one_replica" and name == "replicas")}


def _gravity(status: int) -> int:
    return {0: 0, 4: 1, 3: 2, 1: 3}[status]


def keep_up(stage_names: str, given: Mapping[str, Any]) -> int:
    """``lab up``: servers at a printed address until an interrupt."""
    found = [find_stage(name.strip()) for name in stage_names.split(",") if name.strip()]
    if not found:
        raise BadInput(f"no stage was named; the stages: {', '.join(stages())}")
    first = next((stage for stage in found if stage.store), found[0])
    scenario = scenarios.override(scenarios.load("rush"), first, given)
    folder = RunFolder.create("up", first.name)
    try:
        with keeping() as keeper, cluster(keeper, first, scenario, folder.name, folder.path, stage_names, also=found) as system:
            _announce(system, [stage.name for stage in found])
            while not (dead := system.dead()):
                threading.Event().wait(0.2)
            raise BadInput(f"{', '.join(dead)} ended")
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped; nothing is left running\n")
        return 0
    finally:
        folder.discard()


def _announce(system: Cluster, names: list[str]) -> None:
    address = f"http://{system.address}"
    several = f"   (or ?stage= one of {', '.join(names)})" if len(names) > 1 else ""
    lines = [
        f"{address}  serves {names[0]} over {len(system.replicas)} replicas until Ctrl-C",
        f"  curl -X POST {address}/increment{several}",
        f"  curl {address}/value",
        f"  .venv/bin/locust -f locustfiles/rush.py --web-host 127.0.0.1 --host {address}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def check_again(name: str, as_json: bool) -> int:
    """``lab check``: the verdict that the folder gives, now; the exit status is the verdict's."""
    folder = runs.find(name)
    judgement, _ = judge(folder)
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(judgement), indent=1).decode() + "\n")
    else:
        summarise(terminal(), judgement, [folder])
    return Verdict[judgement.verdict].exit_status


def report_again(names: tuple[str, ...], out: Path | None) -> None:
    """``lab report``: one run, or a sweep, into its folder; several runs, or those in a comparison's folder, as compare does.
    Without names, the latest run, if there is one. Then the site of runs is written again.
    """
    first = Path(names[0]) if names else REPORTS
    if len(names) > 1 or (names and runs_in(first)):
        written = compare(names, out)
    elif out is not None:
        raise BadInput("--out is for a comparison of several runs; a run or a sweep is drawn into its own folder")
    elif (first / "sweep.json").exists():
        from lab.sweep_report import write_again  # with matplotlib, which not every command waits for

        written = write_again(first)
    elif names or runs.finished():
        written = report_run(runs.find(names[0] if names else "latest"))
    else:
        written = []
    tell([*written, site.write()])


def compare_runs(names: tuple[str, ...], out: Path | None) -> None:
    """``lab compare``: several runs over each other, and where the page is."""
    tell(compare(names, out))
    show()


def clean(keep: int) -> list[Path]:
    """``lab clean``: remove old runs, from the site as well; what went."""
    gone = runs.clean(keep)
    if (REPORTS / site.INDEX).exists():
        show()
    return gone


def show(reports: Path = REPORTS) -> None:
    """Write the site of runs again. That it cannot be written takes nothing from a run, and is said."""
    try:
        site.write(reports)
    except OSError as error:
        sys.stderr.write(f"the site of runs could not be written: {error}\n")


def tell(written: list[Path]) -> None:
    """Where it is, a line each."""
    for path in written:
        sys.stdout.write(f"{path}\n")
